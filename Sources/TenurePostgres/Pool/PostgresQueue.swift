import TenureStore

/// Jobs in the order of their numbers, each removable by its number.
struct PostgresQueue {
    private var jobs: [UInt64: PostgresJob] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }

    mutating func newNumber() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Inserts a job, or puts back a removed one at its old position.
    mutating func insert(_ job: PostgresJob, as number: UInt64) {
        jobs[number] = job
        first = min(first, number)
    }

    mutating func removeFirst() -> (number: UInt64, job: PostgresJob)? {
        guard !jobs.isEmpty else { return nil }
        while first < next {
            defer { first += 1 }
            if let job = jobs.removeValue(forKey: first) { return (first, job) }
        }
        return nil
    }

    mutating func remove(_ number: UInt64) -> PostgresJob? { jobs.removeValue(forKey: number) }

    mutating func removeAll() -> [PostgresJob] {
        defer { jobs = [:] }
        return Array(jobs.values)
    }

    mutating func removeExpired(at now: ContinuousClock.Instant) -> [PostgresJob] {
        let expired = jobs.filter { $0.value.deadline <= now }
        for number in expired.keys { jobs[number] = nil }
        return Array(expired.values)
    }

    var earliestDeadline: ContinuousClock.Instant? { jobs.values.map(\.deadline).min() }
}
