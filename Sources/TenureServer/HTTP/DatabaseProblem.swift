import TenureAPI
import TenureStore

extension Problem {
    /// Creates the response if the database can't be used now, or if an operator must fix something before the service
    /// may use it. Nil for other errors, which get status 500.
    ///
    /// If the database belongs to another app, only the log says to which one.
    init?(_ error: StoreError) {
        let answer: (detail: String, reason: String?, retryAfter: Int)? =
            switch error {
            case .replaced:
                ("the database's file was replaced; restart the service as its log says", "databaseReplaced", 60)
            case .moved(_, let newDatabase):
                (
                    "the database was moved to `\(newDatabase)`; set `database` to that, and restart the service",
                    "databaseMoved", 60
                )
            case .otherApp, .otherDatabase:
                ("the service is connected to the wrong database; its log says how to fix this", "wrongDatabase", 30)
            case .newerDatabase:
                ("a newer release of Tenure migrated the database; update this service", "databaseNewer", 30)
            case .olderDatabase:
                (
                    "an earlier release of Tenure wrote the database; restart the service, which migrates it",
                    "databaseOlder", 30
                )
            case .unreachable: ("the database doesn't answer; try again", "databaseUnreachable", 1)
            case .busy: ("the database is busy with other transactions; try again", "databaseBusy", 1)
            case .full: ("the disk of the database is full; free some space on it", "databaseFull", 5)
            case .readOnly: ("the database is read-only; the service's log says why", "databaseReadOnly", 5)
            case .unusable: ("the database can't be used; the service's log says why", "databaseUnusable", 5)
            case .policyChanged: ("another policy was just published; try again", nil, 1)
            case .unavailable, .damaged, .failed, .notEmpty, .copyDiffers: nil
            }
        guard let answer else { return nil }
        self.init(.busy, answer.detail, reason: answer.reason, retryAfter: answer.retryAfter)
    }
}
