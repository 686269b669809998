import TenureCore
import TenureStore

/// The progress of the jobs that call the App Store.
struct AppStoreProgress: Sendable {
    let store: Store
    let environments: [AppStoreEnvironment]

    /// The values for metrics: the number of customers with a pending history, and for each environment the instant up
    /// to which no notification is missing.
    struct Reading: Sendable {
        let waiting: Int
        let reached: [(environment: String, instant: String)]
    }

    /// Reads the values from the database. Throws if the database doesn't respond.
    var reading: Reading {
        get async throws {
            var reached: [(environment: String, instant: String)] = []
            for environment in environments.map(\.rawValue).sorted().compactMap(AppStoreEnvironment.init) {
                guard let mark = try await store.read({ try $0.progress(MissedNotifications.mark(of: environment)) })
                else {
                    continue
                }
                reached.append((environment.rawValue, mark))
            }
            return Reading(waiting: try await store.read { try $0.waiting(.history) }, reached: reached)
        }
    }

    static let waiting = "tenure_app_store_histories_waiting"
    static let reached = "tenure_app_store_notifications_reached_seconds"
}
