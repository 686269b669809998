package import Foundation

/// Asks a web server for a file.
package protocol PolicyFetcher: Sendable {
    /// - Parameter tag: the `ETag` of the file that is known here; nil where none is.
    func fetch(_ url: URL, unlessTagged tag: String?) async throws(PolicyFetchError) -> PolicyAnswer
}

package enum PolicyAnswer: Sendable, Hashable {
    /// The server's file, which isn't verified yet, and its `ETag`.
    case text(Data, tag: String?)
    /// The file still has the tag that was sent.
    case unchanged
}

/// The reason why there is no response.
package enum PolicyFetchError: Error, Sendable, Hashable {
    /// There is no connection, the host is unknown, or the response isn't complete in time.
    case unreachable(String)
    case status(Int)
    /// The response is longer than any policy. It wasn't read to its end.
    case tooLarge(limit: Int)
    case canceled

    var isRetryable: Bool {
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
        case .unreachable(let detail): "the policy server can't be reached (\(detail)); Tenure tries again later"
        case .status(let code): "the policy server responded with status \(code); check the URL of the policy"
        case .tooLarge(let limit):
            "the policy server's response is larger than \(limit) bytes, so it isn't a policy; check the URL"
        case .canceled: "the request for the policy was canceled; Tenure tries again later"
        }
    }
}
