/// What a database says about itself: the app that it belongs to, the releases that may use it, and whether its content
/// was moved.
package struct DatabaseHeader: Sendable, Hashable {
    /// The random ID of the database, 16 bytes; see `Database.id`.
    package let id: [UInt8]
    /// The bundle ID of the app. Nil until a service opens the database.
    package let bundleID: String?
    /// The version of the schema; see `Migration.version`.
    package let version: Int
    /// A release may write to the database only if its own schema version (`DatabaseRequirements.version`) is this or
    /// a later one.
    let oldestWriter: Int
    /// The same as `oldestWriter`, for releases that only read.
    let oldestReader: Int
    /// The path or URL of the database to which the content was moved, without a password. Nil if it wasn't moved.
    package let movedTo: String?

    package init(
        id: [UInt8], bundleID: String?, version: Int, oldestWriter: Int, oldestReader: Int, movedTo: String? = nil
    ) {
        self.id = id
        self.bundleID = bundleID
        self.version = version
        self.oldestWriter = oldestWriter
        self.oldestReader = oldestReader
        self.movedTo = movedTo
    }

    /// Reads the only rows of two tables, which have one row each.
    private static let query =
        "SELECT id, bundle_id, version, oldest_writer, oldest_reader, moved_to FROM \(DatabaseTable.databaseID), \(DatabaseTable.state)"

    /// Reads the header of the database that a session uses.
    package static func read(in session: any DatabaseSession) throws(StoreError) -> DatabaseHeader {
        guard let row = try session.row(query) else { throw .damaged("the database has no header") }
        return DatabaseHeader(
            id: try row.bytes(0), bundleID: try row.textIfPresent(1), version: try row.count(2),
            oldestWriter: try row.count(3), oldestReader: try row.count(4), movedTo: try row.textIfPresent(5))
    }

    /// The statement that gives a database without an app to the app with the bundle ID `$1`.
    package static let claimStatement = "UPDATE \(DatabaseTable.databaseID) SET bundle_id = $1 WHERE bundle_id IS NULL"

    /// Marks a database as moved, so that services don't write to it anymore.
    ///
    /// - Parameter target: the path or URL of the new database, without a password; nil removes the mark.
    package static func markMoved(to target: String?, in session: any DatabaseSession) throws(StoreError) {
        try session.execute("UPDATE \(DatabaseTable.state) SET moved_to = $1", [SQLValue(target)])
    }
}
