import TenureFileAttributes

/// Writes an SQLite database again without its unused pages, so that the file gets smaller. No process may have the
/// database open.
package struct SQLiteVacuum: Sendable {
    private let path: String
    private let bundleID: String?

    /// - Parameter bundleID: the bundle ID of the app that the database must belong to; nil accepts every app's
    ///   database.
    package init(of path: String, for bundleID: String?) {
        self.path = path
        self.bundleID = bundleID
    }

    /// Returns the sizes of the file in bytes, before and after.
    package func run() throws(SQLiteFileError) -> (before: Int64, after: Int64) {
        do throws(StoreError) {
            guard try SQLiteFile.holdsDatabase(at: path)
            else { throw .unusable(database: path, detail: "it contains no Tenure database; check the path") }
            let file = SQLiteFile.resolved(path)
            // Only checks that no process has the database open. The lock is released immediately, because SQLite opens
            // the database below.
            guard try SQLiteFileLock(path: file) != nil else { throw .busy }
            let before = FileState(path: file)?.size ?? 0
            try vacuum(file)
            return (before, FileState(path: file)?.size ?? 0)
        } catch {
            throw error == .busy ? .inUse(path: path) : .store(error)
        }
    }

    /// Opens the database so that no other process can, and writes it again.
    private func vacuum(_ file: String) throws(StoreError) {
        let requirements = DatabaseOpening.existing(of: bundleID).requirements(for: path)
        let connection = try SQLiteCopyNumber.opened(file) { connection throws(StoreError) in
            // After the first access in this mode, no other process can open the database.
            _ = try connection.row("PRAGMA locking_mode = EXCLUSIVE")
            try requirements.check(connection, for: .maintaining)
        }
        try connection.execute("VACUUM")
        guard connection.emptyLog() else { throw .busy }
    }
}
