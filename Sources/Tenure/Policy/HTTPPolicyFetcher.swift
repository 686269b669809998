package import Foundation
package import TenureHTTP
import TenurePolicyFile

/// Fetches a policy from a web server.
package struct HTTPPolicyFetcher: PolicyFetcher {
    private let timeout: Double
    private let transport: any Transport

    /// - Parameter timeout: seconds for the whole response.
    package init(timeout: Double = 30, transport: any Transport = URLSessionTransport.shared) {
        self.timeout = timeout
        self.transport = transport
    }

    package func fetch(_ url: URL, unlessTagged tag: String?) async throws(PolicyFetchError) -> PolicyAnswer {
        var request = TransportRequest(url, timeout: timeout, bodyLimit: SignedPolicy.maximumTextSize)
        if let tag { request.headers["If-None-Match"] = tag }
        let response: TransportResponse
        do throws(TransportFailure) {
            response = try await transport.send(request)
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
