import Foundation
import TenureHTTP
import TenurePolicyFile

/// Fetches a policy from a web server.
struct HTTPPolicyFetcher: PolicyFetcher {
    /// Seconds for the whole response.
    var timeout = 30.0

    func fetch(_ url: URL, unlessTagged tag: String?) async throws(PolicyFetchError) -> PolicyAnswer {
        var request = TransportRequest(url, timeout: timeout, bodyLimit: SignedPolicy.maximumTextSize)
        if let tag { request.headers["If-None-Match"] = tag }
        let response: TransportResponse
        do throws(TransportFailure) {
            response = try await URLSessionTransport.shared.send(request)
        } catch {
            throw PolicyFetchError(error)
        }
        switch response.status {
        case 200:
            return .text(response.body, tag: response.header("ETag").flatMap { $0.utf8.count <= 256 ? $0 : nil })
        case 304: return .unchanged
        default: throw .status(response.status)
        }
    }
}

extension PolicyFetchError {
    fileprivate init(_ failure: TransportFailure) {
        switch failure {
        case .canceled: self = .canceled
        case .bodyTooLarge(let limit): self = .tooLarge(limit: limit)
        case .connection, .timedOut: self = .unreachable(failure.description)
        }
    }
}
