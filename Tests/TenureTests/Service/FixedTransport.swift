import Foundation
import TenureHTTP

/// Gives the same response to every request.
struct FixedTransport: Transport {
    let response: TransportResponse

    init(_ status: Int, _ body: String = "", headers: [String: String] = [:]) {
        response = TransportResponse(status: status, headers: headers, body: Data(body.utf8))
    }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse { response }
}
