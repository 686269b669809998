import TenureCore
import TenureStore

/// The progress of fetching histories and notifications from the App Store.
struct AppStoreProgress: Sendable {
    /// The number of customers with a history still to fetch.
    let unfinishedHistories: Int
    /// The instant up to which no notification is missing, for each environment, in seconds since 1970.
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
