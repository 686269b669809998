/// The reason why the database couldn't be read or written.
package enum StoreError: Error, Sendable, Hashable {
    /// A newer release wrote this database, so its contents may have another meaning.
    case newerDatabase(path: String)
    /// An earlier release wrote this database, and no service of this release has started on it.
    case olderDatabase(database: String)
    /// The database belongs to another app.
    case otherApp(database: String, found: String, expected: String)
    /// The URL leads to another database than when the service started.
    case otherDatabase(database: String)
    /// The content was moved to another database.
    case moved(database: String, to: String)
    /// The database can't be opened or created.
    case unavailable(path: String, detail: String)
    /// The database server isn't running, is still starting, or closed the connection.
    case unreachable(database: String, detail: String)
    /// The path or URL has no usable database: for example, a file of another program, or a server with wrong settings.
    case unusable(database: String, detail: String)
    /// Other transactions held a lock or all connections for too long.
    case busy
    /// The update was decided under a policy that isn't in effect anymore. If the caller decides again, the update may
    /// succeed.
    case policyChanged
    /// The disk is full.
    case full
    /// The database is read-only: it is a standby, or the role may not write.
    case readOnly(database: String, detail: String)
    /// The database contains something that the service never writes; the string says what.
    case damaged(String)
    /// Any other failure, with its description.
    case failed(String)
    /// A file of an open database was replaced; the string says which file and how (`FileReplacement`). Nothing is read
    /// or written until the program starts again.
    case replaced(String)
    /// The content can't be moved to this database, which has data already: the table isn't empty.
    case notEmpty(table: String)
    /// The copy of a moved database differs from the source. The copy was removed.
    case copyDiffers(table: String, rows: Int, expected: Int)

    /// An error that only a mistake in Tenure can cause.
    package static func defect(_ detail: String) -> StoreError {
        .failed("\(detail), which is a defect in Tenure; report it")
    }

    /// Returns a `StoreError` unchanged, and turns any other error into `failed`.
    init(_ error: any Error) { self = error as? StoreError ?? .failed("\(error)") }

    /// Whether the same operation may succeed a moment later.
    package var isRetryable: Bool {
        switch self {
        case .busy, .full, .readOnly, .unreachable, .policyChanged: true
        case .newerDatabase, .olderDatabase, .otherApp, .otherDatabase, .moved, .unavailable, .unusable, .damaged,
            .failed, .replaced, .notEmpty, .copyDiffers:
            false
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .newerDatabase(let path):
            "the database `\(path)` was written by a newer release of Tenure; use that release, or another database"
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
            `\(database)` leads to another database than when the service started, or the role has lost `USAGE` on its \
            schema; check the role, and what the URL and its pooler lead to, and restart the service
            """
        case .moved(let database, let target):
            """
            the database `\(database)` was moved to `\(target)`; use the new database. If the move failed, \
            `tenure database reopen` makes the old database usable again
            """
        case .unavailable(let path, let detail):
            "the database `\(path)` can't be opened (\(detail)); check that its folder exists and is writable"
        case .unreachable(let database, let detail):
            "the database `\(database)` can't be reached (\(detail)); check that its server is running, or try again"
        case .unusable(let database, let detail): "the database `\(database)` can't be used: \(detail)"
        case .busy: "the database is busy with other transactions; try again"
        case .policyChanged: "another policy was published in the meantime; try again"
        case .full: "the disk of the database is full; free some space on it"
        case .readOnly(let database, let detail): "the database `\(database)` accepts no writes (\(detail))"
        case .damaged(let detail):
            "the database is damaged: \(detail); find what is damaged with `tenure database check`, or restore a backup"
        case .failed(let detail): "the database failed: \(detail)"
        case .replaced(let what): "\(what) while it was open; restart the service as its log says"
        case .notEmpty(let table): "the target isn't empty: its table `\(table)` has rows; use an empty database"
        case .copyDiffers(let table, let rows, let expected):
            """
            the copy of `\(table)` differs from the source (\(rows) rows, expected \(expected)), so nothing was moved; \
            check the source with `tenure database check`
            """
        }
    }
}
