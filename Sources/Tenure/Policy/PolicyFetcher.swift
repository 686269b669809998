package import Foundation

/// Asks a web server for a file.
package protocol PolicyFetcher: Sendable {
    /// - Parameter tag: the `ETag` of the file that is known here; nil where none is.
    func fetch(_ url: URL, unlessTagged tag: String?) async throws(PolicyFetchError) -> PolicyAnswer
}

package enum PolicyAnswer: Sendable, Hashable {
    /// What the server has, and its `ETag`. Nothing about it is known yet.
    case text(Data, tag: String?)
    /// The file still has the tag that was sent.
    case unchanged
}

/// Why there is no answer.
package enum PolicyFetchError: Error, Sendable, Hashable {
    /// No connection, no such host, no end of the answer in time.
    case unreachable(String)
    case status(Int)
    /// The answer was longer than any policy is; it was not read to its end.
    case tooLarge(limit: Int)
    case canceled

    package var isRetryable: Bool {
        switch self {
        case .unreachable, .canceled: true
        case .status(let code): code == 408 || code == 429 || code >= 500
        case .tooLarge: false
        }
    }
}

extension PolicyFetchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(let detail): "the server of the policy cannot be reached (\(detail)); it is asked again later"
        case .status(let code): "the server of the policy answers with status \(code); check the address"
        case .tooLarge(let limit):
            "what the server hands out has more than \(limit) bytes, and no policy has; check the address"
        case .canceled: "the question for the policy was given up; it is asked again later"
        }
    }
}
