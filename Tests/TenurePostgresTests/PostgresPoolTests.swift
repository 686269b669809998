import Foundation
import PostgresServer
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `a PostgreSQL connection pool` {
    private func pool() throws -> PostgresPool {
        PostgresPool(to: PostgresCluster(try freshAddress()), for: .transactions, limit: 1, waitTimeout: waitTimeout)
    }

    /// Takes a connection until `end` fires. Returns when it has the connection.
    private func occupy(_ pool: PostgresPool, until end: Signal) async {
        await withCheckedContinuation { continuation in
            pool.submit(
                run: { _ throws(PostgresFailure) in
                    continuation.resume()
                    end.wait()
                }, fail: { _ in continuation.resume() })
        }
    }

    @Test func `a job that returns to its queue runs before later jobs`() {
        var queue = PostgresQueue()
        let job = PostgresJob(deadline: .now + .seconds(60), run: { _ throws(PostgresFailure) in }, fail: { _ in })
        queue.insert(job, as: 4)
        queue.insert(job, as: 9)
        #expect(queue.removeFirst()?.number == 4)
        queue.insert(job, as: 4)
        #expect(queue.removeFirst()?.number == 4)
        #expect(queue.removeFirst()?.number == 9)
        #expect(queue.isEmpty)
    }

    @Test func `a PostgreSQL connection pool returns a busy error to jobs that wait too long`() async throws {
        let pool = try pool()
        let end = Signal()
        await occupy(pool, until: end)
        let error = await #expect(throws: StoreError.self) {
            try await pool.run(within: .milliseconds(50)) { _ throws(PostgresFailure) in }
        }
        #expect(error == .busy)
        end.fire()
        // The connection was returned to the pool.
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool refuses a job at once if ten thousand others wait`() async throws {
        let pool = try pool()
        let (end, isRefused) = (Signal(), Signal())
        await occupy(pool, until: end)
        for _ in 0..<PostgresWorkersState.maximumQueueLength {
            pool.submit(run: { _ throws(PostgresFailure) in }, fail: { _ in Issue.record("refused too early") })
        }
        pool.submit(
            run: { _ throws(PostgresFailure) in Issue.record("waited with all the others") },
            fail: { error in
                #expect(error == .busy)
                isRefused.fire()
            })
        #expect(isRefused.hasHappened)
        end.fire()
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool runs jobs in the order in which they were submitted`() async throws {
        let pool = try pool()
        let (end, log) = (Signal(), Log<Int>())
        await occupy(pool, until: end)
        for number in 0..<20 {
            pool.submit(
                run: { _ throws(PostgresFailure) in
                    let isLogged = Signal()
                    Task {
                        await log.append(number)
                        isLogged.fire()
                    }
                    isLogged.wait()
                }, fail: { _ in Issue.record("failed") })
        }
        end.fire()
        await pool.close()
        #expect(await log.entries == Array(0..<20))
    }

    @Test func `a PostgreSQL connection pool never has more connections than its limit`() async throws {
        let address = try freshAddress("application_name=limited")
        let pool = PostgresPool(to: PostgresCluster(address), for: .transactions, limit: 3, waitTimeout: waitTimeout)
        let counts = try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    try await pool.run { connection throws(PostgresFailure) in
                        let sql = "SELECT count(*), pg_sleep(0.002) FROM pg_stat_activity WHERE application_name = $1"
                        guard case .integer(let count)? = try connection.rows(sql, ["limited"]).first?.values.first
                        else { return nil }
                        return count
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1 ?? 0) }
        }
        #expect(counts.count == 60)
        #expect((1...3).contains(counts.max() ?? 0))
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool drops waiting jobs of canceled tasks`() async throws {
        let pool = try pool()
        let end = Signal()
        await occupy(pool, until: end)
        let waiting = (0..<10).map { _ in
            Task {
                try await pool.run { _ throws(PostgresFailure) in Issue.record("ran after it was canceled") }
            }
        }
        for task in waiting { task.cancel() }
        for task in waiting {
            guard case .failure = await task.result else {
                Issue.record("didn't fail")
                continue
            }
        }
        end.fire()
        let one = try await pool.run { connection throws(PostgresFailure) in try connection.rows("SELECT 1") }
        #expect(one.count == 1)
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool drops a waiting job when its task is canceled, and runs the other jobs`()
        async throws
    {
        let pool = try pool()
        let end = Signal()
        await occupy(pool, until: end)
        let waiting = (0..<3).map { number in
            Task { try await pool.run { _ throws(PostgresFailure) -> Int in number } }
        }
        while pool.usage.waiting < 3 { try await Task.sleep(for: .milliseconds(1)) }
        waiting[1].cancel()
        // The only connection is still in use.
        let error = await #expect(throws: StoreError.self) { try await waiting[1].value }
        #expect(error == .failed("the task was canceled"))
        #expect(pool.usage.waiting == 2)
        end.fire()
        #expect(try await waiting[0].value == 0)
        #expect(try await waiting[2].value == 2)
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool drops the job of a canceled task at once, and completes a running job`()
        async throws
    {
        let pool = try pool()
        let (hasBegun, end) = (Signal(), Signal())
        let running = Task {
            try await pool.run { _ throws(PostgresFailure) -> Int in
                hasBegun.fire()
                end.wait()
                return 7
            }
        }
        while !hasBegun.hasHappened { try await Task.sleep(for: .milliseconds(1)) }
        running.cancel()
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await pool.run { _ throws(PostgresFailure) in Issue.record("ran after it was canceled") }
        }
        late.cancel()
        let error = await #expect(throws: StoreError.self) { try await late.value }
        #expect(error == .failed("the task was canceled"))
        #expect(pool.usage.waiting == 0)
        end.fire()
        #expect(try await running.value == 7)
        await pool.close()
    }

    @Test func `a closing PostgreSQL connection pool completes its jobs, and accepts no new jobs`() async throws {
        let pool = try pool()
        let (end, completed) = (Signal(), Counter())
        await occupy(pool, until: end)
        for _ in 0..<3 {
            pool.submit(
                run: { connection throws(PostgresFailure) in
                    _ = try connection.rows("SELECT 1")
                    completed.increment()
                }, fail: { _ in Issue.record("failed") })
        }
        async let closing: Void = pool.close()
        // Until the pool is closing, a new job waits for the only connection in vain.
        var refusal = StoreError.busy
        while refusal == .busy {
            do throws(StoreError) {
                _ = try await pool.run(within: .milliseconds(20)) { _ throws(PostgresFailure) in
                    Issue.record("ran while another job had the only connection")
                }
                break
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .failed("the database is closed"))
        #expect(completed.value == 0)
        end.fire()
        await closing
        #expect(completed.value == 3)
    }

    @Test func `a PostgreSQL pool runs the next job on a new connection after the server ended the old one`()
        async throws
    {
        let pool = try pool()
        let process = try await pool.run { connection throws(PostgresFailure) in
            try connection.rows("SELECT pg_backend_pid()").first?.values.first
        }
        let killer = try PostgresConnection(to: try freshAddress(), for: .transactions)
        _ = try killer.rows("SELECT pg_terminate_backend($1::int)", [process ?? .null])
        let next = try await pool.run { connection throws(PostgresFailure) in
            try connection.rows("SELECT pg_backend_pid()").first?.values.first
        }
        #expect(next != nil && next != process)
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool keeps using its open connections if it can't open more`() async throws {
        let server = try PostgresServer.shared()
        let role = freshSchema()
        let owner = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        _ = try owner.run("CREATE ROLE \(role) LOGIN")
        let address = try PostgresAddress(server.url(user: role))
        let pool = PostgresPool(to: PostgresCluster(address), for: .transactions, limit: 4, waitTimeout: waitTimeout)
        let end = Signal()
        await occupy(pool, until: end)
        _ = try owner.run("ALTER ROLE \(role) NOLOGIN")
        // This operation begins to wait while the server refuses a second connection. The first connection serves it
        // later.
        async let one = pool.run { connection throws(PostgresFailure) in try connection.rows("SELECT 1") }
        end.fire()
        #expect(try await one == [SQLRow([1])])
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool drops a connection that is left inside a transaction`() async throws {
        let pool = try pool()
        try await pool.run { connection throws(PostgresFailure) in _ = try connection.run("BEGIN") }
        let isFresh = try await pool.run { connection throws(PostgresFailure) in connection.isIdle }
        #expect(isFresh)
        await pool.close()
    }

    @Test func `a PostgreSQL connection pool waits longer after each failed attempt, up to a second`() {
        var backoff = Backoff()
        #expect(backoff.isOver())
        var pauses: [Duration] = []
        for _ in 0..<12 {
            let now = ContinuousClock.now
            backoff.failed(at: now)
            pauses.append((backoff.next ?? now) - now)
        }
        #expect(!backoff.isOver())
        #expect(pauses.allSatisfy { $0 > .milliseconds(20) && $0 <= .seconds(1) })
        #expect(pauses[0] <= .milliseconds(50))
        #expect(pauses[11] >= .milliseconds(500))
    }
}
