package import Foundation

/// Why a request has no response.
package enum TransportFailure: Error, Sendable, Hashable {
    /// The server can't be reached, or the connection was lost.
    case connection(URLError)
    /// The whole response wasn't received in time.
    case timedOut(seconds: Double)
    /// The body of the response has more bytes than the `bodyLimit` of the request.
    case bodyTooLarge(limit: Int)
    /// The task that sent the request was canceled.
    case canceled

    /// The corresponding error of Foundation.
    package var urlError: URLError {
        switch self {
        case .connection(let error): error
        case .timedOut: URLError(.timedOut)
        case .bodyTooLarge: URLError(.dataLengthExceedsMaximum)
        case .canceled: URLError(.cancelled)
        }
    }
}

extension TransportFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connection(let error): error.localizedDescription
        case .timedOut(let seconds): "no response within \(seconds) seconds"
        case .bodyTooLarge(let limit): "the response has more than \(limit) bytes"
        case .canceled: "the request was canceled"
        }
    }
}
