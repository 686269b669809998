/// The queue of one app's jobs, and the database that they use. A job is work that needs a connection, such as one
/// transaction.
struct PostgresLane {
    /// The servers to connect to. Lanes of apps with the same URL have the same cluster.
    let cluster: PostgresCluster
    /// The address of the app's database, with its schema.
    let address: PostgresAddress
    var queue = PostgresQueue()
    /// How many jobs of this lane run.
    var running = 0
    /// The value of `PostgresWorkersState.turns` when a job of this lane began last; 0 if none has begun.
    var lastTurn: UInt64 = 0
    /// The callers of `closeLane`, which wait until the lane is removed; see `finishedClosers`.
    var closers: [CheckedContinuation<Void, Never>] = []
    /// Whether `closeLane` was called, so that the lane accepts no more jobs.
    var isClosing = false
}
