import TenureStore

/// Runs the jobs of one app on connections that it may share with other apps. The app's jobs begin in the order in
/// which they were submitted.
///
/// If the connection breaks during a job, the job is repeated until its deadline.
final class PostgresPool: Sendable {
    private let workers: PostgresWorkers
    /// The number of the queue with this app's jobs; see `PostgresLane`.
    private let lane: Int
    /// How long a job may wait for a connection.
    private let waitTimeout: Duration

    /// - Parameters:
    ///   - workers: the connections, which pools of other apps may use too.
    ///   - cluster: the servers to connect to.
    ///   - address: the address of this app. `cluster` may have the address of another app with another schema.
    init(on workers: PostgresWorkers, to cluster: PostgresCluster, for address: PostgresAddress, waitTimeout: Duration)
    {
        self.workers = workers
        self.waitTimeout = waitTimeout
        lane = workers.addLane(to: cluster, for: address)
    }

    /// Creates a pool that doesn't share its connections.
    convenience init(to cluster: PostgresCluster, for role: PostgresConnection.Role, limit: Int, waitTimeout: Duration)
    {
        self.init(
            on: PostgresWorkers(for: role, limit: limit), to: cluster, for: cluster.address, waitTimeout: waitTimeout)
    }

    /// Runs `body` on a connection, on a thread that may block. `body` may run again if the connection breaks.
    ///
    /// A canceled task stops waiting for a connection. A running `body` is completed.
    ///
    /// - Parameter limit: How long to wait for a connection; nil for the pool's timeout.
    func run<Value: Sendable>(
        within limit: Duration? = nil, _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Value
    ) async throws(StoreError) -> Value {
        let number = workers.newNumber()
        let (workers, lane) = (workers, lane)
        let result: Result<Value, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                workers.submit(
                    PostgresJob(
                        deadline: .now + (limit ?? waitTimeout),
                        run: { connection throws(PostgresFailure) in
                            let value = try body(connection)
                            continuation.resume(returning: .success(value))
                        },
                        fail: { continuation.resume(returning: .failure($0)) }), as: number, in: lane)
                // If the task was canceled before, the cancellation handler had no job to remove.
                if Task.isCancelled { workers.cancel(number, in: lane) }
            }
        } onCancel: {
            workers.cancel(number, in: lane)
        }
        return try result.get()
    }

    /// Submits a job: either `run` is called with a connection and returns, or `fail` is called with the reason. See
    /// `PostgresJob`.
    func submit(
        run: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Void,
        fail: @escaping @Sendable (StoreError) -> Void
    ) {
        workers.submit(
            PostgresJob(deadline: .now + waitTimeout, run: run, fail: fail), as: workers.newNumber(), in: lane)
    }

    /// How the app's connections are used at this moment.
    var usage: ConnectionPoolUsage { workers.usage(ofLane: lane) }

    /// Accepts no more jobs, finishes the accepted jobs, and closes the connections that no other app uses.
    func close() async { await workers.closeLane(lane) }
}
