/// What a server reported about itself when a connection to it was opened.
struct PostgresServerState {
    /// Whether the connection leads to the server itself, and not to a connection pooler such as PgBouncer.
    var isDirect = false
    /// The value of `synchronous_commit` for transactions that write.
    var synchronousCommit = "on"
    /// Whether commits wait for a standby: a server that copies the changes of the primary.
    var hasSynchronousStandby = false
    /// Whether the server accepts writes, as a primary does. A standby refuses writes.
    var takesWrites = true
    /// PostgreSQL's timeline number, which grows each time a standby is promoted to the primary. 0 if the server
    /// doesn't report it.
    var timeline: UInt32 = 0
    /// PostgreSQL's system identifier, which a server shares with its standbys; nil if the server doesn't report it.
    var system: String?
}
