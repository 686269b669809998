import TenureAPI
import TenureStore

extension Problem {
    /// Creates the response if the database can't be used now, or if an operator must fix something before the service
    /// may use it. Nil for other errors, which get status 500.
    ///
    /// If the database belongs to another app, only the log says to which one.
    init?(_ error: StoreError) {
        switch error {
        case .replaced:
            self.init(
                busy: "the database's file was replaced; restart the service as its log says",
                reason: "databaseReplaced", retryAfter: 60)
        case .moved(_, let newDatabase):
            self.init(
                busy: "the database was moved to `\(newDatabase)`; set `database` to that, and restart the service",
                reason: "databaseMoved", retryAfter: 60)
        case .otherApp, .otherDatabase:
            self.init(
                busy: "the service is connected to the wrong database; its log says how to fix this",
                reason: "wrongDatabase", retryAfter: 30)
        case .newerDatabase:
            self.init(
                busy: "a newer release of Tenure migrated the database; update this service",
                reason: "databaseNewer", retryAfter: 30)
        case .olderDatabase:
            self.init(
                busy: "an earlier release of Tenure wrote the database; restart the service, which migrates it",
                reason: "databaseOlder", retryAfter: 30)
        case .unreachable:
            self.init(busy: "the database doesn't answer; try again", reason: "databaseUnreachable", retryAfter: 1)
        case .busy:
            self.init(
                busy: "the database is busy with other transactions; try again",
                reason: "databaseBusy", retryAfter: 1)
        case .full:
            self.init(
                busy: "the disk of the database is full; free some space on it", reason: "databaseFull", retryAfter: 5)
        case .readOnly:
            self.init(
                busy: "the database is read-only; the service's log says why", reason: "databaseReadOnly", retryAfter: 5
            )
        case .unusable:
            self.init(
                busy: "the database can't be used; the service's log says why",
                reason: "databaseUnusable", retryAfter: 5)
        case .policyChanged:
            self.init(busy: "another policy was just published; try again", reason: nil, retryAfter: 1)
        case .unavailable, .damaged, .failed, .notEmpty, .copyDiffers: return nil
        }
    }

    private init(busy detail: String, reason: String?, retryAfter: Int) {
        self.init(.busy, detail, reason: reason, retryAfter: retryAfter)
    }
}
