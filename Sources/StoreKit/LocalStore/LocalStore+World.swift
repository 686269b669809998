public import Foundation
import Synchronization
import TenureAppStore
import TenureCore
import TenureJSON

/// What a test does outside of the device.
extension LocalStore {
    /// What the world's clock shows.
    ///
    /// Throws a `StoreKitError` where the store cannot be reached. Whether the device is offline does not matter.
    public var now: Date {
        get async throws {
            guard let now = try await askOutside(.now, JSONObject()).text("now").flatMap({ Date(rfc3339: $0) }) else {
                throw StoreKitError.unknown
            }
            return now
        }
    }

    /// Lets something happen in the world: `perform("refund", ["product": "com.example.pro"])`, `perform("advance",
    /// ["by": "31d"])`. The acts and their particulars are those of `tenure appstore do --help`; where one needs a
    /// customer and names none, it is the one of this device. Whether the device is offline does not matter.
    ///
    /// Throws a `StoreKitError.systemError` that says what is wrong, where it cannot happen.
    public func perform(_ act: String, _ particulars: [String: String] = [:]) async throws(StoreKitError) {
        var object = JSONObject(members: [.init(name: "act", value: .string(act))])
        for (name, text) in particulars.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
        _ = try await askOutside(
            .acts, JSONObject(members: [.init(name: "acts", value: .array([.object(object)]))]))
    }

    private func askOutside(_ question: Question, _ particulars: JSONObject) async throws(StoreKitError) -> JSONObject {
        let body = state.withLock { self.body(particulars, $0.place) }
        do throws(ConnectionFailure) {
            return try await connection.ask(question, body)
        } catch {
            switch error {
            case .refused(_, let detail): throw .systemError(Failure(detail))
            case .network: throw error.storeKitError
            }
        }
    }
}
