package import Foundation
package import LocalAppStore
package import StoreKit
import TenureJSON

/// The connection to a local App Store in this process.
struct InProcessConnection: AppStoreConnection {
    let interface: DeviceInterface

    init(_ store: LocalAppStore) {
        interface = DeviceInterface(store: store)
    }

    func send(_ kind: RequestKind, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject {
        guard let storeKind = DeviceRequestKind(rawValue: kind.rawValue) else {
            throw .refused(code: "badRequest", detail: "there is no device request `\(kind.rawValue)`")
        }
        do throws(DeviceRefusal) {
            return try await interface.answer(storeKind, body)
        } catch {
            throw .refused(code: error.code.rawValue, detail: error.description)
        }
    }

    /// Returns nil, because the store in this process answers only asynchronously.
    func sendBlocking(_ kind: RequestKind, _ body: JSONObject) -> JSONObject? { nil }
}

extension LocalStore {
    /// Creates a customer's device that uses a store in this process, and installs the app on it.
    ///
    /// - Parameters:
    ///   - customer: nil for the store's only customer.
    ///   - app: the bundle ID; nil for the store's only app.
    ///   - device: the customer's name for the device; another name is another device.
    ///   - deviceVerificationID: nil for an ID that is derived from the names of customer and device.
    /// - Throws: a `StoreKitError` if there is no such customer or app.
    package convenience init(
        _ store: LocalAppStore, customer: String? = nil, app: String? = nil, device: String = "first",
        deviceVerificationID: UUID? = nil
    ) async throws(StoreKitError) {
        try await self.init(
            connection: InProcessConnection(store), customer: customer, app: app, device: device,
            deviceVerificationID: deviceVerificationID)
    }
}
