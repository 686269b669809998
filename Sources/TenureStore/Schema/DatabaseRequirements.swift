/// What a process requires of the database that it uses. Each transaction checks these requirements, because a
/// connection pooler can be pointed at another server, and another process can migrate or move the database.
package struct DatabaseRequirements: Sendable, Hashable {
    /// The name of the database in messages, without a password.
    let name: String
    /// The ID that the database must have. Nil accepts every ID, such as while a database is being opened.
    package let id: [UInt8]?
    /// The bundle ID of the app that the database must belong to; nil accepts every app's database.
    package let bundleID: String?
    /// The version of the schema that this release knows.
    package let version: Int

    /// The purpose for which a transaction uses the database.
    package enum Use: Sendable, Hashable {
        case reading
        /// Writing as a service does. A database that was moved is refused.
        case writing
        /// Writing by `tenure database migrate`, `reopen` or `vacuum`. A moved database is accepted.
        case maintaining
    }

    /// Returns why the database with this header can't be used this way; nil if it can be.
    package func objection(to header: DatabaseHeader, for use: Use) -> StoreError? {
        if let objection = objectionBeforeMigration(to: header, for: use) { return objection }
        return header.version < version ? .olderDatabase(database: name) : nil
    }

    /// The same as `objection`, except that an earlier version of the schema is accepted: a migration will follow.
    package func objectionBeforeMigration(to header: DatabaseHeader, for use: Use) -> StoreError? {
        if let bundleID, let other = header.bundleID, other != bundleID {
            return .otherApp(database: name, found: other, expected: bundleID)
        }
        if let id, id != header.id { return .otherDatabase(database: name) }
        let oldest = use == .reading ? header.oldestReader : header.oldestWriter
        guard oldest <= version else { return .newerDatabase(path: name) }
        if use == .writing, let target = header.movedTo { return .moved(database: name, to: target) }
        return nil
    }

    /// Throws if the session's database can't be used this way. Runs one short statement.
    func check(_ session: any DatabaseSession, for use: Use) throws(StoreError) {
        if let objection = objection(to: try DatabaseHeader.read(in: session), for: use) { throw objection }
    }
}
