import Foundation
import LocalAppStore

@testable import Tenure

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RealService {
    /// A notification of the App Store, which goes another way than the apps' questions.
    func receive(_ signedPayload: String) async -> SendAttemptResult {
        var request = URLRequest(url: url.appendingPathComponent("v1/notifications/apple"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try? JSONEncoder().encode(["signedPayload": signedPayload])
        guard let (_, response) = try? await URLSession.shared.data(for: request),
            let status = (response as? HTTPURLResponse)?.statusCode
        else { return .noResponse }
        notified.withLock { $0.append(status) }
        return SendAttemptResult(status: status)
    }
}
