import TenureAPI
import TenureStore

/// The responses while the service must not use its database. `ProblemMiddleware` has the other problems of the
/// database.
extension Problem {
    /// Creates the response if the service must not use its database until an operator fixes something. Nil for other
    /// errors.
    ///
    /// If the database belongs to another app, only the log says to which one.
    init?(unusable error: StoreError) {
        switch error {
        case .replaced:
            self.init(
                .busy, "the database's file was replaced; restart the service as its log says",
                reason: "databaseReplaced", retryAfter: 60)
        case .otherApp, .otherDatabase:
            self.init(
                .busy, "the service is connected to the wrong database; its log says how to fix this",
                reason: "wrongDatabase", retryAfter: 30)
        case .moved(_, let place):
            self.init(
                .busy, "the database was moved to `\(place)`; restart the service with that database",
                reason: "databaseMoved", retryAfter: 60)
        case .newerDatabase:
            self.init(
                .busy, "a newer release of Tenure migrated the database; update this service",
                reason: "databaseNewer", retryAfter: 30)
        case .olderDatabase:
            self.init(
                .busy, "an earlier release of Tenure wrote the database; restart the service, which migrates it",
                reason: "databaseOlder", retryAfter: 30)
        default: return nil
        }
    }
}
