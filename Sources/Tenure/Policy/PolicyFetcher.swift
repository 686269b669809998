package import Foundation

/// Fetches a policy from a web server.
package protocol PolicyFetcher: Sendable {
    /// Fetches the policy at a URL.
    ///
    /// - Parameter tag: the `ETag` of the known policy. Nil to fetch the policy in any case.
    func fetch(_ url: URL, unlessTagged tag: String?) async throws(PolicyFetchError) -> PolicyAnswer
}

/// The response of a web server.
package enum PolicyAnswer: Sendable, Hashable {
    /// The server's unverified file and its `ETag`.
    case text(Data, tag: String?)
    /// The server's file still has the `ETag` of the request.
    case unchanged
}

/// Why the policy couldn't be fetched.
package enum PolicyFetchError: Error, Sendable, Hashable {
    /// There is no connection, the host is unknown, or the response isn't complete in time.
    case unreachable(String)
    /// The server responded with a status other than 200 and 304.
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
        case .unreachable(let detail): "the policy server didn't respond (\(detail)); Tenure tries again later"
        case .status(let code): "the policy server responded with status \(code); check the URL of the policy"
        case .tooLarge(let limit):
            "the policy server's response is larger than \(limit) bytes, so it isn't a policy; check the URL"
        case .canceled: "the request for the policy was canceled; Tenure tries again later"
        }
    }
}
