import TenureAPI
import TenureStore

extension Problem {
    /// Creates the response if the database can't be used now, or if an operator must fix something before the service
    /// may use it. Nil for other errors, which get status 500.
    ///
    /// If the database belongs to another app, only the log says to which one.
    init?(_ error: StoreError) {
        let (detail, reason, retryAfter): (String, String?, Int)
        switch error {
        case .replaced:
            (detail, reason, retryAfter) =
                ("the database's file was replaced; restart the service as its log says", "databaseReplaced", 60)
        case .moved(_, let place):
            (detail, reason, retryAfter) =
                ("the database was moved to `\(place)`; restart the service with that database", "databaseMoved", 60)
        case .otherApp, .otherDatabase:
            (detail, reason, retryAfter) =
                ("the service is connected to the wrong database; its log says how to fix this", "wrongDatabase", 30)
        case .newerDatabase:
            (detail, reason, retryAfter) =
                ("a newer release of Tenure migrated the database; update this service", "databaseNewer", 30)
        case .olderDatabase:
            (detail, reason, retryAfter) = (
                "an earlier release of Tenure wrote the database; restart the service, which migrates it",
                "databaseOlder", 30
            )
        case .unreachable:
            (detail, reason, retryAfter) = ("the database doesn't answer; try again", "databaseUnreachable", 1)
        case .busy:
            (detail, reason, retryAfter) = (
                "the database is busy with other transactions; try again", "databaseBusy", 1
            )
        case .full:
            (detail, reason, retryAfter) = ("the database has no room on its disk; try again", "databaseFull", 5)
        case .readOnly:
            (detail, reason, retryAfter) = ("the database is read-only; try again", "databaseReadOnly", 5)
        case .unusable:
            (detail, reason, retryAfter) =
                ("the database doesn't let the service use it; try again", "databaseUnusable", 5)
        case .policyChanged:
            (detail, reason, retryAfter) = ("the database just got another policy; try again", nil, 1)
        case .unavailable, .damaged, .failed, .notEmpty, .copyDiffers: return nil
        }
        self.init(.busy, detail, reason: reason, retryAfter: retryAfter)
    }
}
