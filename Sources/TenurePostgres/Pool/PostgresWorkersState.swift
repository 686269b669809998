import TenureStore

/// Decides which worker runs which job. It stores the lanes with their waiting jobs, and the idle workers. It has no
/// threads and does no I/O. `PostgresWorkers` calls it while holding a lock, and carries out what it decides.
///
/// A *cluster* is the servers, database and role of one URL, and a worker is connected to at most one. For example,
/// the apps A and B use the database `tenure`, and the app C uses `games`; `limit` is 2. Each app has a lane. Both
/// workers are connected to `tenure` and run the jobs of A and B. When C has a job, one of them connects to `games`
/// instead. It does so immediately if A and B have no waiting job, or if C has fewer running jobs. Otherwise it does so
/// once its connection is 50 ms old.
struct PostgresWorkersState {
    /// The maximum number of workers, and so of connections.
    var limit: Int
    /// How long a worker without a job keeps its connection.
    private let idleTimeout: Duration
    /// The lanes, by number.
    private var lanes: [Int: PostgresLane] = [:]
    /// The number of lanes that were ever added.
    private var lanesCreated = 0
    /// How many numbers were given to jobs.
    private var numbers: UInt64 = 0
    /// How many jobs began in all lanes.
    private var turns: UInt64 = 0
    /// The workers without a job, with or without a connection. The worker that has been idle longest comes first.
    private var idle: [PostgresWorker] = []
    /// The number of workers, at most `limit`.
    private var workerCount = 0
    /// The number of workers that were ever created.
    private var workersCreated = 0
    /// The time of the next check of the jobs' deadlines; nil if no check is planned.
    var alarm: ContinuousClock.Instant?
    /// Whether a timer will check the idle connections.
    private var isWatchingIdle = false
    /// Why attempts to connect fail, by cluster.
    private var outages: [ObjectIdentifier: Outage] = [:]
    /// How many workers are connecting, by cluster.
    private var connectingWorkers: [ObjectIdentifier: Int] = [:]
    /// How many workers are connected, by cluster.
    private var connections: [ObjectIdentifier: Int] = [:]

    /// The failures to connect to a cluster since the last success.
    private struct Outage {
        /// The last failure.
        var error: StoreError
        /// The pause before the next attempt, which grows with each failure.
        var backoff = Backoff()
    }

    /// The maximum number of waiting jobs of one app, as many as a busy service has requests. Further jobs fail
    /// immediately.
    static let maximumQueueLength = 10_000
    /// How long a worker keeps its database while apps with another database wait, because connecting takes time.
    private static let quantum = Duration.milliseconds(50)

    init(limit: Int, idleTimeout: Duration) {
        self.limit = limit
        self.idleTimeout = idleTimeout
    }

    // MARK: Apps

    /// Adds a lane. Returns its number.
    mutating func addLane(_ lane: PostgresLane) -> Int {
        lanesCreated += 1
        lanes[lanesCreated] = lane
        return lanesCreated
    }

    /// Closes a lane: it accepts no more jobs. After the lane's last job, `finishedClosers` returns `closer`.
    mutating func close(_ lane: Int, _ closer: CheckedContinuation<Void, Never>) {
        lanes[lane]?.isClosing = true
        lanes[lane]?.closers.append(closer)
    }

    /// Removes the closed lanes that have no jobs left. If no other lane uses a lane's cluster, the lane stays until
    /// all connections to the cluster are closed. Returns the callers of `close` that waited for the removed lanes.
    mutating func finishedClosers() -> [CheckedContinuation<Void, Never>] {
        var closers: [CheckedContinuation<Void, Never>] = []
        for (number, lane) in lanes where lane.isClosing && lane.queue.isEmpty && lane.running == 0 {
            let id = ObjectIdentifier(lane.cluster)
            let isShared = lanes.contains { $0.key != number && $0.value.cluster === lane.cluster }
            guard isShared || (connections[id, default: 0] == 0 && connectingWorkers[id, default: 0] == 0)
            else { continue }
            lanes[number] = nil
            if !isShared { outages[id] = nil }
            closers += lane.closers
        }
        return closers
    }

    /// Returns how many connections to the lane's cluster are open, and how many of the lane's jobs wait.
    func usage(ofLane lane: Int) -> (open: Int, waiting: Int) {
        guard let lane = lanes[lane] else { return (0, 0) }
        return (connections[ObjectIdentifier(lane.cluster), default: 0], lane.queue.count)
    }

    /// Whether an app may still need connections to the cluster.
    private func isNeeded(_ cluster: PostgresCluster) -> Bool {
        lanes.values.contains { $0.cluster === cluster && !($0.isClosing && $0.queue.isEmpty) }
    }

    // MARK: Jobs

    /// Returns a number for a new job. In its lane, jobs with lower numbers come first.
    mutating func newNumber() -> UInt64 {
        defer { numbers += 1 }
        return numbers
    }

    /// Adds a job to a lane. Returns why it is refused; nil if it was added.
    mutating func insert(_ job: PostgresJob, as number: UInt64, in lane: Int) -> StoreError? {
        guard let target = lanes[lane], !target.isClosing else { return .failed("the database is closed") }
        if target.queue.count >= Self.maximumQueueLength { return reasonToWait(for: target.cluster) }
        // If connecting can't succeed, for example because of a wrong password, the job fails without waiting.
        let id = ObjectIdentifier(target.cluster)
        if let outage = outages[id], !outage.error.isRetryable, !outage.backoff.isOver(),
            connections[id, default: 0] == 0
        {
            return outage.error
        }
        lanes[lane]?.queue.insert(job, as: number)
        return nil
    }

    /// Takes a waiting job out of its lane. Returns nil if the lane has no such waiting job.
    mutating func remove(_ number: UInt64, in lane: Int) -> PostgresJob? { lanes[lane]?.queue.remove(number) }

    /// Records that a running job of the lane has stopped.
    ///
    /// - Parameter again: the job, if it must run again. It gets its old position in the queue. Nil if it has ended.
    mutating func finish(_ again: (number: UInt64, job: PostgresJob)?, in lane: Int) {
        lanes[lane]?.running -= 1
        if let again { lanes[lane]?.queue.insert(again.job, as: again.number) }
    }

    /// Removes jobs that waited too long. Returns them with the reasons, and when to check next.
    mutating func removeExpired() -> (expired: [(PostgresJob, StoreError)], next: ContinuousClock.Instant?) {
        var expired: [(PostgresJob, StoreError)] = []
        var next: ContinuousClock.Instant?
        alarm = nil
        for (number, lane) in lanes where !lane.queue.isEmpty {
            let error = reasonToWait(for: lane.cluster)
            expired += (lanes[number]?.queue.removeExpired(at: .now) ?? []).map { ($0, error) }
            if let earliest = lanes[number]?.queue.earliestDeadline { next = min(next ?? earliest, earliest) }
        }
        return (expired, next)
    }

    /// The error for jobs that can't wait any longer for a connection to this cluster: why there is no free connection.
    private func reasonToWait(for cluster: PostgresCluster) -> StoreError {
        let id = ObjectIdentifier(cluster)
        if let outage = outages[id] { return outage.error }
        if connections[id, default: 0] > 0 || cluster.hasConnected { return .busy }
        return .unreachable(database: cluster.address.description, detail: "no connection could be opened in time")
    }

    // MARK: Workers

    /// What a worker does next.
    enum Next {
        /// Run this job on the connection that the worker has.
        case run(lane: Int, PostgresAddress, number: UInt64, PostgresJob)
        /// Close the connection if there is one, and connect to this cluster.
        case connect(PostgresCluster)
        /// Nothing to do. The worker sets a timer for `until`, which closes idle connections. `until` is nil if the
        /// worker has no connection, or if such a timer is running already.
        case wait(until: ContinuousClock.Instant?)
        /// Disconnect. The worker isn't used again.
        case end
    }

    /// Decides what a worker does next: run a job on its own connection, connect to another cluster, wait, or end
    /// because no app needs its connection.
    mutating func next(for worker: PostgresWorker) -> Next {
        if let cluster = worker.cluster, !isNeeded(cluster) {
            leave(worker)
            workerCount -= 1
            return .end
        }
        // The next lane for the worker's own connection, and the next lane for a new connection.
        let own = worker.cluster.flatMap { cluster in nextLane { $0.cluster === cluster } }
        let other = nextLane { $0.cluster !== worker.cluster && canConnect(to: $0.cluster) }
        let mustLeave = if let own, let other { shouldLeave(worker, lane: own, for: other) } else { false }
        if let own, !mustLeave { return takeJob(from: own) }
        if let other, let cluster = lanes[other]?.cluster {
            leave(worker)
            connectingWorkers[ObjectIdentifier(cluster), default: 0] += 1
            return .connect(cluster)
        }
        worker.idleSince = .now
        idle.append(worker)
        guard worker.cluster != nil, !isWatchingIdle else { return .wait(until: nil) }
        isWatchingIdle = true
        return .wait(until: .now + idleTimeout)
    }

    /// Returns the lane that gets the next worker; nil if no suitable lane has a waiting job. It is the lane with the
    /// fewest running jobs, and of several such lanes, the one in which no job has begun for longest. If none has begun
    /// in several lanes, the lowest number of a waiting job decides.
    private func nextLane(where isSuitable: (PostgresLane) -> Bool) -> Int? {
        var best: (lane: Int, running: Int, lastTurn: UInt64, number: UInt64)?
        for (number, lane) in lanes where isSuitable(lane) {
            guard let first = lane.queue.firstNumber else { continue }
            if let best, (best.running, best.lastTurn, best.number) < (lane.running, lane.lastTurn, first) { continue }
            best = (number, lane.running, lane.lastTurn, first)
        }
        return best?.lane
    }

    /// Whether the lane `other` needs this worker more than the lane `own` does, and no other worker is free for
    /// `other`.
    private func shouldLeave(_ worker: PostgresWorker, lane own: Int, for other: Int) -> Bool {
        guard workerCount >= limit, idle.isEmpty, let own = lanes[own], let other = lanes[other] else { return false }
        if other.running < own.running { return true }
        return other.running == own.running && worker.connectedAt + Self.quantum < .now
    }

    /// Takes the first job out of a lane, for the worker to run.
    private mutating func takeJob(from number: Int) -> Next {
        guard let lane = lanes[number], let next = lanes[number]?.queue.removeFirst() else { return .wait(until: nil) }
        lanes[number]?.running += 1
        turns += 1
        lanes[number]?.lastTurn = turns
        return .run(lane: number, lane.address, number: next.number, next.job)
    }

    /// Records that the worker has closed its connection, or is about to. Does nothing without a connection.
    mutating func leave(_ worker: PostgresWorker) {
        guard let cluster = worker.cluster else { return }
        worker.cluster = nil
        connections[ObjectIdentifier(cluster), default: 1] -= 1
    }

    // MARK: Connecting

    /// Whether a worker may try to connect to the cluster now. After a failure, one worker at a time tries, after a
    /// pause.
    ///
    /// A failure that may pass, such as a server that is down, probably concerns the other clusters too. So while a
    /// cluster has such a failure, only one worker at a time connects to any cluster.
    private func canConnect(to cluster: PostgresCluster) -> Bool {
        if let outage = outages[ObjectIdentifier(cluster)] {
            guard outage.backoff.isOver(), connectingWorkers[ObjectIdentifier(cluster), default: 0] == 0
            else { return false }
        }
        guard outages.values.contains(where: { $0.error.isRetryable }) else { return true }
        return connectingWorkers.values.allSatisfy { $0 == 0 }
    }

    /// Records that a worker connected.
    mutating func connected(_ worker: PostgresWorker, to cluster: PostgresCluster) {
        let id = ObjectIdentifier(cluster)
        connectingWorkers[id, default: 1] -= 1
        connections[id, default: 0] += 1
        outages[id] = nil
        // The server answers, so its other databases can be tried too.
        outages = outages.filter { !$0.value.error.isRetryable }
        worker.cluster = cluster
        worker.connectedAt = .now
    }

    /// Records that connecting failed. Returns jobs that fail now because waiting doesn't help, and when to try to
    /// connect again.
    mutating func failed(
        to cluster: PostgresCluster, _ error: StoreError
    ) -> (jobs: [PostgresJob], retry: ContinuousClock.Instant) {
        let id = ObjectIdentifier(cluster)
        connectingWorkers[id, default: 1] -= 1
        outages[id, default: Outage(error: error)].error = error
        outages[id]?.backoff.failed()
        var impossibleJobs: [PostgresJob] = []
        // Waiting helps only if there are other connections.
        if !error.isRetryable, connections[id, default: 0] == 0 {
            for (number, lane) in lanes where lane.cluster === cluster {
                impossibleJobs += lanes[number]?.queue.removeAll() ?? []
            }
        }
        return (impossibleJobs, outages[id]?.backoff.next ?? .now)
    }

    // MARK: Waking

    /// Takes the workers that have something to do out of `idle`. The caller lets each of them ask for its `next` step.
    mutating func workersToWake() -> [PostgresWorker] {
        // Wake the workers with connections that no app needs anymore, so that they end.
        var woken = idle.filter { worker in worker.cluster.map { !isNeeded($0) } ?? false }
        idle.removeAll { worker in woken.contains { $0 === worker } }
        // Wake one worker for each waiting job. Connected workers come first; others have to connect.
        for lane in lanes.values where !lane.queue.isEmpty {
            var count = lane.queue.count
            while count > 0, let index = idle.lastIndex(where: { $0.cluster === lane.cluster }) {
                woken.append(idle.remove(at: index))
                count -= 1
            }
            guard count > 0, canConnect(to: lane.cluster) else { continue }
            // After a failure, one worker at a time tries to connect.
            let isFailing =
                outages.values.contains { $0.error.isRetryable } || outages[ObjectIdentifier(lane.cluster)] != nil
            if isFailing { count = 1 }
            while count > 0, let worker = takeWorker() {
                woken.append(worker)
                count -= 1
            }
        }
        return woken
    }

    /// Returns an idle worker without a connection, or else a new worker, or else the worker that has been idle
    /// longest. Returns nil if all workers are busy and there may be no more workers.
    private mutating func takeWorker() -> PostgresWorker? {
        if let index = idle.firstIndex(where: { $0.cluster == nil }) { return idle.remove(at: index) }
        if workerCount < limit {
            workerCount += 1
            workersCreated += 1
            return PostgresWorker(number: workersCreated)
        }
        return idle.isEmpty ? nil : idle.removeFirst()
    }

    /// Takes the workers with connections that were idle for too long out of `idle`. `next` is when to check again; nil
    /// if no idle worker has a connection.
    mutating func takeIdle() -> (workers: [PostgresWorker], next: ContinuousClock.Instant?) {
        let now = ContinuousClock.now
        let expired = idle.filter { $0.cluster != nil && $0.idleSince + idleTimeout <= now }
        idle.removeAll { worker in expired.contains { $0 === worker } }
        for worker in expired {
            leave(worker)
            workerCount -= 1
        }
        let next = idle.filter { $0.cluster != nil }.map { $0.idleSince + idleTimeout }.min()
        isWatchingIdle = next != nil
        return (expired, next)
    }
}
