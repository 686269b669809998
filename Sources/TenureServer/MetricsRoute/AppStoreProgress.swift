import TenureCore
import TenureStore

/// The progress of fetching histories and notifications from the App Store.
struct AppStoreProgress: Sendable {
    /// The number of customers with a history still to fetch.
    let waiting: Int
    /// The instant up to which no notification is missing, for each environment, in seconds since 1970.
    let reached: [String: Double]

    init(of environments: [AppStoreEnvironment], in store: Store) async throws(StoreError) {
        waiting = try await store.read { try $0.unfinishedJobCount(.history) }
        var reached: [String: Double] = [:]
        for environment in environments {
            let name = MissedNotifications.progressName(for: environment)
            reached[environment.rawValue] = try await store.read { try $0.storedValue(named: name) }.flatMap {
                Double($0)
            }
        }
        self.reached = reached
    }
}
