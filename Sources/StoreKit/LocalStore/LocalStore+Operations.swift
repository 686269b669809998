public import Foundation
import Synchronization
import TenureAppStore
import TenureCore
import TenureJSON

/// Operations of a test that happen outside of the device, such as a refund.
extension LocalStore {
    /// The local App Store's current time, even while `LocalStore.Behavior.isOffline` is true.
    /// Throws a `StoreKitError` if the store can't be reached.
    public var now: Date {
        get async throws {
            guard let now = try await sendEvenOffline(.now, JSONObject()).text("now").flatMap({ Date(rfc3339: $0) })
            else { throw StoreKitError.unknown }
            return now
        }
    }

    /// Performs an operation: `perform("refund", ["product": "com.example.pro"])`, `perform("advance", ["by": "31d"])`.
    /// `tenure local-store do --help` lists the operations and their parameters. If an operation needs a customer and
    /// the parameters contain none, it uses this device's customer. The call works even if the device is offline.
    /// Throws a `StoreKitError.systemError` with the reason if the operation isn't possible.
    public func perform(_ operation: String, _ parameters: [String: String] = [:]) async throws(StoreKitError) {
        var object: JSONObject = ["operation": .string(operation)]
        for (name, text) in parameters.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
        _ = try await sendEvenOffline(.operations, ["operations": .array([.object(object)])])
    }

    /// Sends a request even while `LocalStore.Behavior.isOffline` is true, because the test sends it and not the
    /// device.
    private func sendEvenOffline(_ kind: RequestKind, _ parameters: JSONObject) async throws(StoreKitError)
        -> JSONObject
    {
        let body = state.withLock { self.body(parameters, $0.configuration) }
        do throws(ConnectionFailure) {
            return try await connection.send(kind, body)
        } catch {
            switch error {
            // Report the reason even if the code is `unknown`, for which StoreKit's own error has no reason.
            case .refused(_, let detail): throw .systemError(Failure(detail))
            case .network: throw error.storeKitError
            }
        }
    }
}
