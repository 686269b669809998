import TenureStore

/// Work that needs a connection, such as one transaction.
///
/// A job ends once: `run` returns, or `fail` is called. If `run` throws because its connection broke, it is called
/// again, with another connection.
struct PostgresJob: Sendable {
    /// The instant until which the job waits for a connection, or is repeated.
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PostgresConnection) throws(PostgresFailure) -> Void
    let fail: @Sendable (StoreError) -> Void
}

/// The waiting jobs of one app, in the order of their numbers. The queues of all apps share one sequence of numbers
/// (`PostgresWorkersState.newNumber`), so a queue has gaps.
struct PostgresQueue {
    private var jobs: [UInt64: PostgresJob] = [:]
    /// The lowest number of a job; meaningless while the queue is empty.
    private var first: UInt64 = 0
    /// A number that no job in the queue exceeds.
    private var last: UInt64 = 0

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }

    /// Inserts a job, or puts a removed job back at its old position.
    mutating func insert(_ job: PostgresJob, as number: UInt64) {
        first = jobs.isEmpty ? number : min(first, number)
        last = jobs.isEmpty ? number : max(last, number)
        jobs[number] = job
    }

    /// The number of the job that comes next; nil if the queue is empty.
    var firstNumber: UInt64? { jobs.isEmpty ? nil : first }

    mutating func removeFirst() -> (number: UInt64, job: PostgresJob)? {
        guard let number = firstNumber, let job = remove(number) else { return nil }
        return (number, job)
    }

    /// Removes and returns the job with this number; nil if it isn't in the queue.
    mutating func remove(_ number: UInt64) -> PostgresJob? {
        defer { advance() }
        return jobs.removeValue(forKey: number)
    }

    /// Moves `first` to the next waiting job. The skipped numbers belong to other queues, or to jobs that were removed.
    private mutating func advance() {
        guard !jobs.isEmpty else { return }
        while first < last, jobs[first] == nil { first += 1 }
    }

    mutating func removeAll() -> [PostgresJob] {
        defer { jobs = [:] }
        return Array(jobs.values)
    }

    /// Removes and returns the jobs with a deadline that has passed.
    mutating func removeExpired(at now: ContinuousClock.Instant) -> [PostgresJob] {
        let expired = jobs.filter { $0.value.deadline <= now }
        for number in expired.keys { jobs[number] = nil }
        advance()
        return Array(expired.values)
    }

    var earliestDeadline: ContinuousClock.Instant? { jobs.values.map(\.deadline).min() }
}
