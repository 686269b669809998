/// The primary server that a process used last.
package struct KnownPrimary: Sendable, Hashable, Codable {
    /// PostgreSQL's system identifier. A server, its standbys and its physical backups have the same one.
    package let system: String
    /// PostgreSQL's timeline number, which grows each time a standby is promoted to the primary.
    package let timeline: UInt32
}

/// Stores which primary server a process used last, so that the process knows it after a restart.
package struct PrimaryStorage: Sendable {
    /// The name in messages, such as the path of a file.
    let name: String
    /// Returns the primary that was written last; nil if none was written yet.
    let read: @Sendable () throws -> KnownPrimary?
    /// Stores a primary. Does nothing in a command, which only reads, or before the service has created its keys.
    let write: @Sendable (KnownPrimary) throws -> Void

    package init(
        _ name: String, read: @escaping @Sendable () throws -> KnownPrimary?,
        write: @escaping @Sendable (KnownPrimary) throws -> Void
    ) {
        self.name = name
        self.read = read
        self.write = write
    }
}
