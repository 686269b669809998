import TenureHTTP

/// Why the policy couldn't be fetched.
enum PolicyFetchError: Error, Sendable, Hashable {
    /// There is no connection, the host is unknown, or the response isn't complete in time.
    case unreachable(String)
    /// The server responded with a status other than 200 and 304.
    case status(Int)
    /// The response is longer than any policy. It wasn't read to its end.
    case tooLarge(limit: Int)
    case canceled

    init(_ failure: TransportFailure) {
        switch failure {
        case .canceled: self = .canceled
        case .bodyTooLarge(let limit): self = .tooLarge(limit: limit)
        case .connection, .timedOut: self = .unreachable(failure.description)
        }
    }

    var isRetryable: Bool {
        switch self {
        case .unreachable, .canceled: true
        case .status(let code): code == 408 || code == 429 || code >= 500
        case .tooLarge: false
        }
    }
}

extension PolicyFetchError: CustomStringConvertible {
    var description: String {
        switch self {
        case .unreachable(let detail): "the policy server didn't respond (\(detail)); Tenure tries again later"
        case .status(let code): "the policy server responded with status \(code); check the URL of the policy"
        case .tooLarge(let limit):
            "the policy server's response is larger than \(limit) bytes, so it isn't a policy; check the URL"
        case .canceled: "the request for the policy was canceled; Tenure tries again later"
        }
    }
}
