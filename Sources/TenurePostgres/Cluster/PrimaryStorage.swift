/// The primary server that a process used last.
package struct KnownPrimary: Sendable, Hashable, Codable {
    /// PostgreSQL's system identifier. A server, its standbys and its physical backups have the same one.
    package let system: String
    /// The timeline, which each promotion of a standby increases.
    package let timeline: UInt32
}

/// Stores which primary server a process used last, so that the process knows it after a restart.
package struct PrimaryStorage: Sendable {
    /// The name in messages, such as the path of a file.
    let name: String
    /// Returns nil if nothing was written yet.
    let read: @Sendable () throws -> KnownPrimary?
    /// Does nothing if there is no place to write to.
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
