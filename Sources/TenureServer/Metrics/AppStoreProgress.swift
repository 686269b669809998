import TenureCore
import TenureStore

/// How far the service is with what it asks the App Store.
struct AppStoreProgress: Sendable {
    let store: any Store
    let environments: [AppStoreEnvironment]

    /// Throws where the record does not answer.
    var prometheus: String {
        get async throws {
            var text = PrometheusText()
            text.family(
                Self.waiting, .gauge, "Customers whose history is to be asked for at the App Store.",
                "\(try await store.waiting(.history))")
            var reached: [(labels: [(String, String)], value: String)] = []
            for environment in environments.map(\.rawValue).sorted().compactMap(AppStoreEnvironment.init) {
                guard let mark = try await store.mark(AppStoreDesk.mark(of: environment)) else { continue }
                reached.append(([("environment", environment.rawValue)], mark))
            }
            text.family(
                Self.reached, .gauge,
                "Up to when no notification is missing, in seconds since 1970.", reached)
            return text.text
        }
    }

    static let waiting = "tenure_app_store_histories_waiting"
    static let reached = "tenure_app_store_notifications_reached_seconds"
}
