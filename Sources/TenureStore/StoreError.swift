/// Why the record could not be read or written.
package enum StoreError: Error, Sendable, Hashable {
    /// A newer release wrote this database: what it means is unknown here.
    case newerDatabase(path: String)
    /// An earlier release wrote this database, and no service of this release has started on it.
    case olderDatabase(database: String)
    /// It's the database of another app.
    case otherApp(database: String, found: String, expected: String)
    /// Its URL leads to another database than at the start.
    case otherDatabase(database: String)
    /// Its content was moved.
    case moved(database: String, to: String)
    /// It cannot be opened or created.
    case unavailable(path: String, detail: String)
    /// The server of the database is not there, or not yet, or the connection to it broke.
    case unreachable(database: String, detail: String)
    /// The server is there, and this record cannot be kept on it as it is set up.
    case unusable(database: String, detail: String)
    /// Others hold it, or all connections to it, for too long.
    case busy
    /// What was to be written rests on a policy that does not decide any more; judged again, it may be.
    case policyChanged
    /// The disk is full.
    case full
    /// What is stored is not what was written.
    case damaged(String)
    case failed(String)
    /// The file of an open database was replaced. Nothing is read or written until the program starts again.
    case replaced(String)
    /// A record should be moved to where one is already.
    case notEmpty(table: String)
    /// A record that was moved is not what it was; nothing of it was kept.
    case movedOtherwise(table: String, rows: Int, expected: Int)

    /// Whether the same act may succeed a moment later.
    package var isRetryable: Bool {
        switch self {
        case .busy, .full, .unreachable, .policyChanged: true
        case .newerDatabase, .olderDatabase, .otherApp, .otherDatabase, .moved, .unavailable, .unusable, .damaged,
            .failed, .replaced, .notEmpty, .movedOtherwise:
            false
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .newerDatabase(let path):
            "the database `\(path)` was written by a newer release; start that one, or name another database"
        case .olderDatabase(let database):
            """
            the database `\(database)` was written by an earlier release; start `tenure serve` of this release, which \
            brings it up to date
            """
        case .otherApp(let database, let found, let expected):
            """
            the database `\(database)` belongs to the app `\(found)`, not to `\(expected)`; check the path or URL of the \
            database and its `schema`, and which policy is used
            """
        case .otherDatabase(let database):
            """
            `\(database)` leads to another database than when the service started; check what the URL and its pooler lead \
            to, and restart the service
            """
        case .moved(let database, let place):
            """
            the database `\(database)` was moved to `\(place)`; use that one. If the move failed, \
            `tenure database reopen` makes this one usable again
            """
        case .unavailable(let path, let detail):
            "the database `\(path)` cannot be opened (\(detail)); check that its folder exists and can be written"
        case .unreachable(let database, let detail):
            "the database `\(database)` cannot be reached (\(detail)); check that its server runs, or try again"
        case .unusable(let database, let detail): "the database `\(database)` cannot be used: \(detail)"
        case .busy: "the database is held by others; try again"
        case .policyChanged: "another policy was published meanwhile; try again"
        case .full: "the disk is full; make room"
        case .damaged(let detail): "the record is damaged: \(detail)"
        case .failed(let detail): "the database failed: \(detail)"
        case .replaced(let what): "\(what) while it was open; restart the service as its log says"
        case .notEmpty(let table):
            "the target holds a record already: its table `\(table)` has rows; name an empty database"
        case .movedOtherwise(let table, let rows, let expected):
            """
            the copy of `\(table)` is not the same (\(rows) rows of \(expected), or others), and nothing was moved; \
            check the source by `tenure database check`
            """
        }
    }
}
