import Dispatch
import Foundation
import TenureStore

/// A bounded number of connections, and those who wait for one in the order in which they came.
///
/// Connections stay with their workers; jobs come to them, so that none can be forgotten. One that broke is replaced
/// before its worker takes the next job, and the job that it broke under is repeated, while its time lasts.
final class PostgresPool: @unchecked Sendable {
    // Sound: `state` is touched in `withState` only, between locking and unlocking.
    private let lock = NSLock()
    private var state = State()
    private let cluster: PostgresCluster
    private let role: PostgresConnection.Role
    private let limit: Int
    /// How long a job may wait for a connection.
    private let patience: Duration
    private let timer = DispatchQueue(label: "tenure.postgres.deadlines")

    private struct State {
        var queue = PostgresQueue()
        var idle: [PostgresWorker] = []
        var workers = 0
        var workersEver = 0
        /// Why the last attempt to connect failed; nil after one that succeeded.
        var outage: StoreError?
        var hasConnected = false
        /// How many workers have a connection.
        var connected = 0
        /// When the deadlines are looked at next.
        var alarm: ContinuousClock.Instant?
        var isClosing = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// As many may wait as a busy service has requests; beyond that an answer now is better than one too late.
    static let longestQueue = 10_000

    init(to cluster: PostgresCluster, for role: PostgresConnection.Role, limit: Int, patience: Duration) {
        self.cluster = cluster
        self.role = role
        self.limit = limit
        self.patience = patience
    }

    // MARK: Asking

    /// Runs `body` on a connection, on a thread that may wait. `body` may run again where the connection breaks under it.
    ///
    /// A task that is cancelled stops waiting for a connection; what has begun is finished.
    ///
    /// - Parameter limit: how long to wait for a connection, where it is not as long as the others do.
    func run<Value: Sendable>(
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Value
    ) async throws(StoreError) -> Value {
        let number = withState { $0.queue.newNumber() }
        let result: Result<Value, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(
                    PostgresJob(
                        deadline: .now + (limit ?? patience),
                        run: { connection throws(PostgresFailure) in
                            let value = try body(connection)
                            continuation.resume(returning: .success(value))
                        },
                        fail: { continuation.resume(returning: .failure($0)) }), as: number)
                // A task that was cancelled before had nothing to cancel then.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return try result.get()
    }

    /// For those who wait in their own way.
    func submit(
        run: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Void,
        fail: @escaping @Sendable (StoreError) -> Void
    ) {
        let number = withState { $0.queue.newNumber() }
        submit(PostgresJob(deadline: .now + patience, run: run, fail: fail), as: number)
    }

    private func submit(_ job: PostgresJob, as number: UInt64) {
        enum Reception {
            case refused(StoreError)
            case accepted(by: PostgresWorker?, timer: Bool)
        }
        let reception = withState { state -> Reception in
            if state.isClosing { return .refused(.failed("the record is closed")) }
            if state.queue.count >= Self.longestQueue { return .refused(reason(in: state)) }
            state.queue.insert(job, as: number)
            let isTimerDue = state.alarm.map { job.deadline < $0 } ?? true
            if isTimerDue { state.alarm = job.deadline }
            if let worker = state.idle.popLast() { return .accepted(by: worker, timer: isTimerDue) }
            guard state.workers < limit else { return .accepted(by: nil, timer: isTimerDue) }
            state.workers += 1
            state.workersEver += 1
            return .accepted(by: PostgresWorker(number: state.workersEver), timer: isTimerDue)
        }
        switch reception {
        case .refused(let error): job.fail(error)
        case .accepted(let worker, let timer):
            if let worker { worker.queue.async { self.work(worker) } }
            if timer { expireJobs(at: job.deadline) }
        }
    }

    private func cancel(_ number: UInt64) {
        withState { $0.queue.remove(number) }?.fail(.failed("whoever asked no longer waits"))
    }

    // MARK: Deadlines

    /// One timer for nearly all: it looks at the next deadline when the last one is over.
    private func expireJobs(at deadline: ContinuousClock.Instant) {
        let wait = (deadline - .now).components
        let seconds = Double(wait.seconds) + Double(wait.attoseconds) / 1e18
        timer.asyncAfter(deadline: .now() + max(0, seconds)) { [weak self] in
            guard let self else { return }
            let (expired, error, next) = self.withState { state in
                let expired = state.queue.removeExpired(at: .now)
                let next = state.queue.earliestDeadline
                state.alarm = next
                return (expired, reason(in: state), next)
            }
            for job in expired { job.fail(error) }
            if let next { self.expireJobs(at: next) }
        }
    }

    /// Why somebody has waited too long.
    private func reason(in state: State) -> StoreError {
        if let outage = state.outage { return outage }
        if state.hasConnected { return .busy }
        return .unreachable(
            database: cluster.address.description, detail: "no connection came about within \(patience)")
    }

    // MARK: Working

    /// Runs on the worker's queue, until nothing waits.
    private func work(_ worker: PostgresWorker) {
        while hasWork(worker) {
            // The server was replaced, or is silent.
            if worker.connection?.isIdle == false { disconnect(worker) }
            if worker.connection == nil {
                if let pause = worker.backoff.pause() {
                    worker.queue.asyncAfter(deadline: pause) { self.work(worker) }
                    return
                }
                connect(worker)
            }
            guard let connection = worker.connection, let (number, job) = withState({ $0.queue.removeFirst() })
            else { continue }
            do {
                try job.run(connection)
            } catch {
                if case .reconnect = error.remedy, job.deadline > .now {
                    let isTimerDue = withState { state in
                        state.queue.insert(job, as: number)
                        let isTimerDue = state.alarm.map { job.deadline < $0 } ?? true
                        if isTimerDue { state.alarm = job.deadline }
                        return isTimerDue
                    }
                    if isTimerDue { expireJobs(at: job.deadline) }
                } else {
                    job.fail(error.error)
                }
            }
            // Broken, or in a transaction that did not even roll back.
            if !connection.isIdle { disconnect(worker) }
        }
    }

    /// A worker without work lies idle, or ends where the pool is closing.
    private func hasWork(_ worker: PostgresWorker) -> Bool {
        enum Next { case work, rest, end }
        let next = withState { state -> Next in
            guard state.queue.isEmpty else { return .work }
            guard !state.isClosing else { return .end }
            state.idle.append(worker)
            return .rest
        }
        switch next {
        case .work: return true
        case .rest: return false
        case .end:
            disconnect(worker)
            let closers = withState { state -> [CheckedContinuation<Void, Never>] in
                state.workers -= 1
                guard state.workers == 0 else { return [] }
                defer { state.closers = [] }
                return state.closers
            }
            for closer in closers { closer.resume() }
            return false
        }
    }

    private func connect(_ worker: PostgresWorker) {
        do {
            worker.connection = try cluster.connect(for: role)
            worker.backoff.succeeded()
            withState { state in
                state.outage = nil
                state.hasConnected = true
                state.connected += 1
            }
        } catch {
            worker.backoff.failed()
            let hopeless = withState { state -> [PostgresJob] in
                state.outage = error.error
                // To wait would not help, unless for the connections that there are.
                return error.error.isRetryable || state.connected > 0 ? [] : state.queue.removeAll()
            }
            for job in hopeless { job.fail(error.error) }
        }
    }

    private func disconnect(_ worker: PostgresWorker) {
        guard worker.connection != nil else { return }
        worker.connection = nil
        withState { $0.connected -= 1 }
    }

    // MARK: Closing

    /// Takes nothing more, finishes what it took, and ends all connections.
    func close() async {
        await withCheckedContinuation { continuation in
            let (idle, isOver) = withState { state in
                state.isClosing = true
                let isOver = state.workers == 0
                if !isOver { state.closers.append(continuation) }
                defer { state.idle = [] }
                return (state.idle, isOver)
            }
            for worker in idle { worker.queue.async { self.work(worker) } }
            if isOver { continuation.resume() }
        }
    }

    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }
}
