import Foundation
import LocalAppStore
import TenureHTTP

@testable import Tenure

extension RealService {
    /// Receives a notification from the App Store, which doesn't go through the apps' connection.
    func receive(_ signedPayload: String) async -> SendAttemptResult {
        var request = TransportRequest(
            url.appendingPathComponent("v1/notifications/apple"), timeout: 60, bodyLimit: 65_536)
        guard let body = try? JSONEncoder().encode(["signedPayload": signedPayload]) else { return .noResponse }
        request.post(json: body)
        guard let status = try? await URLSessionTransport.shared.send(request).status else { return .noResponse }
        notified.withLock { $0.append(status) }
        return SendAttemptResult(status: status)
    }
}
