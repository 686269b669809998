import TenureStore

/// Waiting jobs in the order of their numbers. A job can also be removed by its number. Several queues share one sequence
/// of numbers.
struct PostgresQueue {
    private var jobs: [UInt64: PostgresJob] = [:]
    /// The lowest number of a job, if there is a job.
    private var first: UInt64 = 0
    /// No job has a higher number.
    private var last: UInt64 = 0

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }

    /// Inserts a job, or puts a removed job back at its old position.
    mutating func insert(_ job: PostgresJob, as number: UInt64) {
        first = jobs.isEmpty ? number : min(first, number)
        last = jobs.isEmpty ? number : max(last, number)
        jobs[number] = job
    }

    /// The number of the job that comes next.
    var firstNumber: UInt64? { jobs.isEmpty ? nil : first }

    mutating func removeFirst() -> (number: UInt64, job: PostgresJob)? {
        guard let number = firstNumber, let job = remove(number) else { return nil }
        return (number, job)
    }

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

    mutating func removeExpired(at now: ContinuousClock.Instant) -> [PostgresJob] {
        let expired = jobs.filter { $0.value.deadline <= now }
        for number in expired.keys { jobs[number] = nil }
        advance()
        return Array(expired.values)
    }

    var earliestDeadline: ContinuousClock.Instant? { jobs.values.map(\.deadline).min() }
}
