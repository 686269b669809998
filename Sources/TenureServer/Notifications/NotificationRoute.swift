import Foundation
import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

/// `POST /v1/notifications/apple`: App Store Server Notifications, version 2.
struct NotificationRoute: Sendable {
    let service: NotificationService
    let now: @Sendable () -> Date

    static let path: RouterPath = "/v1/notifications/apple"

    /// The largest body in bytes. Real notifications have about 12 KB.
    static let bodySize = 512 * 1024

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let body = try await request.json(upTo: Self.bodySize, in: context, isNotification: true)
        let notification = try NotificationRequest(reading: body)
        let reception = try await service.receive(
            Array(notification.signedPayload.utf8), now: now(), logger: context.logger)
        return .jsonObject(capacity: 32) { json in
            // `kept`: stored now. `erased`: not stored, because its customer was erased. `known`: it was stored before.
            json.field("status", reception.isNew ? "kept" : (reception.isOfErasedCustomer ? "erased" : "known"))
        }
    }
}

/// The body of a notification.
struct NotificationRequest {
    /// The notification, a compact JWS signed by Apple.
    let signedPayload: String

    /// The fields that distinguish version 2 of notifications from version 1.
    private struct Body: Decodable {
        let signedPayload: String?
        /// A field of version 1, which isn't signed.
        let notification_type: String?
    }

    /// Reads the body. Throws `malformedRequest` if it isn't a notification of version 2.
    init(reading body: Data) throws(Problem) {
        guard let fields = try? JSONDecoder().decode(Body.self, from: body) else {
            throw Problem(.malformedRequest, "the body must be a JSON object with a string `signedPayload`")
        }
        guard let signedPayload = fields.signedPayload else {
            throw Problem(
                .malformedRequest,
                fields.notification_type == nil
                    ? "`signedPayload` is missing; send the App Store's notification unchanged"
                    : "this is a notification of version 1, which isn't signed; choose version 2 in App Store Connect")
        }
        self.signedPayload = signedPayload
    }
}
