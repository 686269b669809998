import Dispatch
import TenureCore
import TenureStore

/// The connections to one server, for several apps with any number of databases and roles.
///
/// Each worker owns a connection. Jobs (work that needs a connection) are assigned to workers, so no connection can
/// leak. Apps with the same database and role share connections. If all connections are in use, the app that uses the
/// fewest gets the next free connection.
///
/// A *lane* is the queue of one app's jobs.
final class PostgresWorkers: Sendable {
    private let state: Locked<PostgresWorkersState>
    /// The purpose of the connections: transactions, or looking up customers.
    private let role: PostgresConnection.Role
    /// Runs what waits for an instant, such as the end of a job's deadline.
    private let timer = DispatchQueue(label: "tenure.postgres.deadlines")

    init(for role: PostgresConnection.Role, limit: Int, idleTimeout: Duration = .seconds(60)) {
        self.role = role
        state = Locked(PostgresWorkersState(limit: limit, idleTimeout: idleTimeout))
    }

    // MARK: Apps

    /// Adds a queue for the jobs of one app. Returns the number of the lane.
    func addLane(to cluster: PostgresCluster, for address: PostgresAddress) -> Int {
        state.withLock { $0.addLane(PostgresLane(cluster: cluster, address: address)) }
    }

    /// Raises the maximum number of connections to at least `limit`.
    func raiseLimit(to limit: Int) { state.withLock { $0.limit = max($0.limit, limit) } }

    /// Returns how many connections are open, and how many of this lane's jobs wait, for the metrics.
    func usage(ofLane lane: Int) -> ConnectionPoolUsage {
        state.withLock { state in
            let (open, waiting) = state.usage(ofLane: lane)
            return ConnectionPoolUsage(
                role == .lookups ? .lookups : .transactions, open: open, limit: state.limit, waiting: waiting)
        }
    }

    /// Accepts no more jobs in the lane, and waits until the accepted jobs have ended.
    func closeLane(_ lane: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.close(lane, continuation) }
            wake()
            resumeClosers()
        }
    }

    // MARK: Jobs

    /// Returns a number for a new job. In its lane, jobs with lower numbers run first.
    func newNumber() -> UInt64 { state.withLock { $0.newNumber() } }

    /// Adds a job to a lane, and wakes workers for it. If the job is refused, calls its `fail`.
    func submit(_ job: PostgresJob, as number: UInt64, in lane: Int) {
        let (refusal, woken) = state.withLock { state in
            let refusal = state.insert(job, as: number, in: lane)
            return (refusal, refusal == nil ? state.workersToWake() : [])
        }
        if let refusal { return job.fail(refusal) }
        for worker in woken { worker.queue.async { self.work(worker) } }
        expireJobs(by: job.deadline)
    }

    /// Fails the job with this number, unless it has begun or ended already.
    func cancel(_ number: UInt64, in lane: Int) {
        state.withLock { $0.remove(number, in: lane) }?.fail(.failed("the task was canceled"))
    }

    // MARK: Time

    /// Makes sure that a timer fires at this deadline or earlier. The timer fails the jobs with a passed deadline, and
    /// sets the next timer.
    private func expireJobs(by deadline: ContinuousClock.Instant) {
        let isNew = state.withLock { state in
            guard state.alarm.map({ deadline < $0 }) ?? true else { return false }
            state.alarm = deadline
            return true
        }
        guard isNew else { return }
        after(deadline) { workers in
            let (expired, next) = workers.state.withLock { $0.removeExpired() }
            for (job, error) in expired { job.fail(error) }
            if let next { workers.expireJobs(by: next) }
            workers.wake()
        }
    }

    /// Calls a closure at this instant, unless the workers no longer exist.
    private func after(_ instant: ContinuousClock.Instant, _ body: @escaping @Sendable (PostgresWorkers) -> Void) {
        let wait = (instant - .now).components
        let seconds = Double(wait.seconds) + Double(wait.attoseconds) / 1e18
        timer.asyncAfter(deadline: .now() + max(0, seconds)) { [weak self] in
            if let self { body(self) }
        }
    }

    // MARK: Workers

    /// Starts as many workers as there is work for.
    private func wake() {
        for worker in state.withLock({ $0.workersToWake() }) { worker.queue.async { self.work(worker) } }
    }

    /// Runs on the worker's queue, until nothing waits.
    private func work(_ worker: PostgresWorker) {
        while true {
            // The server was replaced or doesn't answer, or rolling back a transaction failed.
            if worker.connection?.isIdle == false { disconnect(worker) }
            switch state.withLock({ $0.next(for: worker) }) {
            case .run(let lane, let address, let number, let job):
                run(job, as: number, in: lane, at: address, on: worker)
            case .connect(let cluster): connect(worker, to: cluster)
            case .wait(let until):
                if let until { after(until) { $0.closeIdle() } }
                return
            case .end: return disconnect(worker)
            }
        }
    }

    /// Runs a job. Puts it back into the queue if the worker has no connection, or if the connection breaks before the
    /// job's deadline.
    private func run(
        _ job: PostgresJob, as number: UInt64, in lane: Int, at address: PostgresAddress, on worker: PostgresWorker
    ) {
        var mustRepeat = worker.connection == nil
        if let connection = worker.connection {
            connection.address = address
            do {
                try job.run(connection)
            } catch {
                if case .reconnect = error.remedy, job.deadline > .now {
                    mustRepeat = true
                } else {
                    job.fail(error.error)
                }
            }
        }
        state.withLock { $0.finish(mustRepeat ? (number, job) : nil, in: lane) }
        if mustRepeat { expireJobs(by: job.deadline) }
        resumeClosers()
    }

    /// Resumes the callers of `closeLane` for the lanes that have ended their last job.
    private func resumeClosers() { for closer in state.withLock({ $0.finishedClosers() }) { closer.resume() } }

    /// Connects a worker. If that fails, sets a timer for the next attempt.
    private func connect(_ worker: PostgresWorker, to cluster: PostgresCluster) {
        worker.connection = nil
        do {
            worker.connection = try cluster.connect(for: role)
            state.withLock { $0.connected(worker, to: cluster) }
            // The server answers, so other workers may connect now.
            wake()
        } catch {
            let (failed, retry) = state.withLock { $0.failed(to: cluster, error.error) }
            for job in failed { job.fail(error.error) }
            after(retry) { $0.wake() }
            resumeClosers()
        }
    }

    private func disconnect(_ worker: PostgresWorker) {
        worker.connection = nil
        state.withLock { $0.leave(worker) }
        resumeClosers()
    }

    /// Closes the connections that were idle for too long.
    private func closeIdle() {
        let (closed, next) = state.withLock { $0.takeIdle() }
        for worker in closed { worker.queue.async { self.disconnect(worker) } }
        if let next { after(next) { $0.closeIdle() } }
    }
}
