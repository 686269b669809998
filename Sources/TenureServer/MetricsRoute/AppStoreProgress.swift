import TenureCore
import TenureStore

/// How far this service is in fetching transaction histories, and notifications that it missed, from the App Store.
struct AppStoreProgress: Sendable {
    /// The number of customers with a transaction history that isn't completely fetched.
    let unfinishedHistories: Int
    /// For each environment by name, the time up to which no notification is missing, in seconds since 1970.
    let reachedInstants: [String: Double]

    init(of environments: [AppStoreEnvironment], in store: Store) async throws(StoreError) {
        unfinishedHistories = try await store.read { try $0.unfinishedJobCount() }
        var reachedInstants: [String: Double] = [:]
        for environment in environments {
            let name = MissedNotifications.progressName(for: environment)
            reachedInstants[environment.rawValue] = try await store.read { try $0.storedValue(named: name) }.flatMap {
                Double($0)
            }
        }
        self.reachedInstants = reachedInstants
    }
}
