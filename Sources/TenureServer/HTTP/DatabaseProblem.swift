import TenureAPI
import TenureStore

extension Problem {
    /// The problem of a database that the service must not use. It stays until an operator has acted. Nil for other errors.
    ///
    /// Clients don't learn which other app a database belongs to. The log names it.
    init?(unusable error: StoreError) {
        switch error {
        case .replaced:
            self.init(
                .busy, "the database's file was replaced, and the service must be restarted",
                reason: "databaseReplaced", retryAfter: 60)
        case .otherApp, .otherDatabase:
            self.init(
                .busy, "the service is connected to the wrong database; its log says how to fix this",
                reason: "wrongDatabase", retryAfter: 30)
        case .moved(_, let place):
            self.init(
                .busy, "the database was moved to `\(place)`, and the service must be restarted there",
                reason: "databaseMoved", retryAfter: 60)
        case .newerDatabase:
            self.init(
                .busy, "a newer release has migrated the database, and this process must be updated",
                reason: "databaseNewer", retryAfter: 30)
        case .olderDatabase:
            self.init(
                .busy, "an earlier release wrote the database; restart the service, which updates it",
                reason: "databaseOlder", retryAfter: 30)
        default: return nil
        }
    }
}
