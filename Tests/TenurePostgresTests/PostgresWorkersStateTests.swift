import TenureStore
import Testing

@testable import TenurePostgres

/// The decisions about jobs and connections, without a server.
@Suite struct `the state of PostgreSQL workers` {
    private func cluster(_ database: String) throws -> PostgresCluster {
        PostgresCluster(try PostgresAddress("postgres://db/\(database)"))
    }

    private func job(until deadline: ContinuousClock.Instant = .now + .seconds(60)) -> PostgresJob {
        PostgresJob(deadline: deadline, run: { _ throws(PostgresFailure) in }, fail: { _ in })
    }

    /// Inserts a job. Returns why it is refused.
    private func insert(_ job: PostgresJob, in lane: Int, of state: inout PostgresWorkersState) -> StoreError? {
        let number = state.newNumber()
        return state.insert(job, as: number, in: lane)
    }

    @Test func `a queue of PostgreSQL jobs skips removed jobs, and jobs expire at their deadline`() {
        var queue = PostgresQueue()
        let now = ContinuousClock.now
        for (number, seconds) in [(3, 30), (5, 10), (7, 20), (9, 40)] as [(UInt64, Int)] {
            queue.insert(job(until: now + .seconds(seconds)), as: number)
        }
        #expect(queue.count == 4)
        #expect(queue.earliestDeadline == now + .seconds(10))
        let removed = [3, 4].map { queue.remove($0) != nil }
        #expect(removed == [true, false])
        #expect(queue.firstNumber == 5)
        let expired = queue.removeExpired(at: now + .seconds(10)).map(\.deadline)
        #expect(expired == [now + .seconds(10)])
        #expect(queue.firstNumber == 7)
        let none = queue.removeExpired(at: now + .milliseconds(19_999))
        #expect(none.isEmpty)
        let next = queue.removeFirst()?.number
        #expect(next == 7)
        queue.insert(job(), as: 6)
        #expect(queue.firstNumber == 6)
        let rest = queue.removeAll().count
        #expect(rest == 2)
        #expect(queue.isEmpty)
        #expect(queue.firstNumber == nil)
    }

    @Test func `the app with the fewest running PostgreSQL jobs comes next, then the app that waited longest`() throws {
        let cluster = try cluster("shop")
        var state = PostgresWorkersState(limit: 4, idleTimeout: .seconds(60))
        var lanes: [Int] = []
        for _ in 0..<3 { lanes.append(state.addLane(PostgresLane(cluster: cluster, address: cluster.address))) }
        for lane in lanes {
            for _ in 0..<2 {
                let refusal = insert(job(), in: lane, of: &state)
                #expect(refusal == nil)
            }
        }
        let worker = PostgresWorker(number: 1)
        state.connected(worker, to: cluster)
        var order: [Int] = []
        for step in 0..<7 {
            // The third app's first job ends.
            if step == 4 { state.finish(nil, in: lanes[2]) }
            if case .run(let lane, _, _, _) = state.next(for: worker) { order.append(lane) }
        }
        #expect(order == [lanes[0], lanes[1], lanes[2], lanes[0], lanes[2], lanes[1]])
    }

    @Test func `jobs for a PostgreSQL database that refuses the role fail at once, and jobs for other databases wait`()
        throws
    {
        let (refusing, other) = (try cluster("shop"), try cluster("games"))
        var state = PostgresWorkersState(limit: 2, idleTimeout: .seconds(60))
        var lanes: [Int] = []
        for cluster in [refusing, refusing, other] {
            let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
            lanes.append(lane)
            let refusal = insert(job(), in: lane, of: &state)
            #expect(refusal == nil)
        }
        let error = StoreError.unusable(database: "shop", detail: "no")
        var failed: [Int] = []
        // After several failures, the pause before the next attempt is long enough for this test.
        for _ in 0..<8 { failed.append(state.failed(to: refusing, error).jobs.count) }
        #expect(failed == [2, 0, 0, 0, 0, 0, 0, 0])
        let refusals = lanes.map { insert(job(), in: $0, of: &state) }
        #expect(refusals == [error, error, nil])
        #expect(state.usage(ofLane: lanes[2]).waiting == 2)
        // A server that is down may come back, so its jobs wait.
        let down = state.failed(to: other, .unreachable(database: "games", detail: "down")).jobs
        #expect(down.isEmpty)
        let accepted = insert(job(), in: lanes[2], of: &state)
        #expect(accepted == nil)
        #expect(state.usage(ofLane: lanes[2]).waiting == 3)
    }

    @Test func `jobs for a PostgreSQL database with an open connection wait although no second connection is possible`()
        throws
    {
        let cluster = try cluster("shop")
        var state = PostgresWorkersState(limit: 2, idleTimeout: .seconds(60))
        let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
        state.connected(PostgresWorker(number: 1), to: cluster)
        var refusals = [insert(job(), in: lane, of: &state)]
        let failed = state.failed(to: cluster, .unusable(database: "shop", detail: "no")).jobs
        #expect(failed.isEmpty)
        refusals.append(insert(job(), in: lane, of: &state))
        #expect(refusals == [nil, nil])
        let usage = state.usage(ofLane: lane)
        #expect(usage.open == 1)
        #expect(usage.waiting == 2)
    }

    @Test func `a PostgreSQL job that waited too long fails with the reason why there was no connection`() throws {
        let cluster = try cluster("shop")
        var state = PostgresWorkersState(limit: 2, idleTimeout: .seconds(60))
        let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
        let later = ContinuousClock.now + .seconds(60)
        _ = insert(job(until: later), in: lane, of: &state)
        var errors: [StoreError] = []
        func expire() {
            _ = insert(job(until: .now), in: lane, of: &state)
            let (expired, next) = state.removeExpired()
            errors += expired.map { $0.1 }
            #expect(next == later)
        }
        expire()
        let down = StoreError.unreachable(database: "shop", detail: "down")
        _ = state.failed(to: cluster, down)
        expire()
        state.connected(PostgresWorker(number: 1), to: cluster)
        expire()
        let unopened = StoreError.unreachable(
            database: "postgres://db/shop", detail: "no connection could be opened in time")
        #expect(errors == [unopened, down, .busy])
        #expect(state.usage(ofLane: lane).waiting == 1)
    }

    @Test func `as many PostgreSQL workers wake as jobs wait, up to the limit`() throws {
        let cluster = try cluster("shop")
        for (jobs, limit, expected) in [(1, 3, 1), (3, 3, 3), (4, 3, 3)] {
            var state = PostgresWorkersState(limit: limit, idleTimeout: .seconds(60))
            let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
            for _ in 0..<jobs { _ = insert(job(), in: lane, of: &state) }
            let woken = [state.workersToWake().count, state.workersToWake().count]
            #expect(woken[0] == expected, "\(jobs) jobs")
            // Without a free worker, no more wake.
            if jobs > limit { #expect(woken[1] == 0) }
        }
    }

    @Test(arguments: [(Duration.zero, 1), (.seconds(60), 0)])
    func `an idle PostgreSQL connection is closed only after the idle timeout`(timeout: Duration, closed: Int) throws {
        let cluster = try cluster("shop")
        var state = PostgresWorkersState(limit: 2, idleTimeout: timeout)
        let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
        let worker = PostgresWorker(number: 1)
        state.connected(worker, to: cluster)
        guard case .wait(let check) = state.next(for: worker) else {
            Issue.record("the worker doesn't wait")
            return
        }
        #expect(check != nil)
        let (workers, next) = state.takeIdle()
        #expect(workers.count == closed)
        #expect((next == nil) == (closed == 1))
        #expect(state.usage(ofLane: lane).open == 1 - closed)
    }

    /// What a worker with a connection to `shop` does next, if a job for `shop` and a job for `games` wait.
    ///
    /// - Parameter running: how many other workers run jobs for `shop`.
    private func step(limit: Int, running: Int, connectedFor age: Duration) throws -> String {
        let (shop, games) = (try cluster("shop"), try cluster("games"))
        var state = PostgresWorkersState(limit: limit, idleTimeout: .seconds(60))
        let lanes = [shop, games].map { state.addLane(PostgresLane(cluster: $0, address: $0.address)) }
        for _ in 0...running { _ = insert(job(), in: lanes[0], of: &state) }
        let workers = state.workersToWake()
        try #require(workers.count == running + 1)
        for worker in workers {
            _ = state.next(for: worker)
            state.connected(worker, to: shop)
        }
        for worker in workers.dropFirst() { _ = state.next(for: worker) }
        _ = insert(job(), in: lanes[1], of: &state)
        workers[0].connectedAt = .now - age
        return switch state.next(for: workers[0]) {
        case .run(let lane, _, _, _): lane == lanes[0] ? "stay" : "run a job of the other app"
        case .connect(let cluster): cluster === games ? "leave" : "connect again"
        case .wait: "wait"
        case .end: "end"
        }
    }

    @Test(arguments: [
        (2, 1, Duration.zero, "leave"), (3, 1, .zero, "stay"), (1, 0, .seconds(60), "leave"),
        (1, 0, .seconds(-60), "stay"),
    ])
    func `a PostgreSQL worker leaves for another app at the limit, if that app runs fewer jobs or waited long`(
        limit: Int, running: Int, age: Duration, expected: String
    ) throws {
        #expect(try step(limit: limit, running: running, connectedFor: age) == expected)
    }

    @Test func `after a failure to connect to PostgreSQL, one worker at a time connects until one succeeds`() throws {
        let (down, other) = (try cluster("shop"), try cluster("games"))
        var state = PostgresWorkersState(limit: 4, idleTimeout: .seconds(60))
        let lane = state.addLane(PostgresLane(cluster: other, address: other.address))
        _ = state.failed(to: down, .unreachable(database: "shop", detail: "down"))
        for _ in 0..<3 { _ = insert(job(), in: lane, of: &state) }
        let first = state.workersToWake()
        #expect(first.count == 1)
        let worker = try #require(first.first)
        _ = state.next(for: worker)
        let meanwhile = state.workersToWake()
        #expect(meanwhile.isEmpty)
        state.connected(worker, to: other)
        let rest = state.workersToWake()
        #expect(rest.count == 3)
    }

    @Test func `closing an app waits for its PostgreSQL jobs, and for its connections if no other app needs them`()
        async throws
    {
        let cluster = try cluster("shop")
        var state = PostgresWorkersState(limit: 2, idleTimeout: .seconds(60))
        let lanes = (0..<2).map { _ in state.addLane(PostgresLane(cluster: cluster, address: cluster.address)) }
        let worker = PostgresWorker(number: 1)
        state.connected(worker, to: cluster)
        _ = insert(job(), in: lanes[0], of: &state)
        _ = state.next(for: worker)
        var closed: [Int] = []
        var refusal: StoreError?
        var (woken, ends) = (0, false)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            state.close(lanes[0], continuation)
            // Its job is running.
            closed.append(state.finishedClosers().count)
            state.finish(nil, in: lanes[0])
            closed.append(state.finishedClosers().count)
            refusal = insert(job(), in: lanes[0], of: &state)

            // Nothing is left to do, so the worker waits.
            _ = state.next(for: worker)
            state.close(lanes[1], continuation)
            // The connection is open.
            closed.append(state.finishedClosers().count)
            woken = state.workersToWake().count
            if case .end = state.next(for: worker) { ends = true }
            closed.append(state.finishedClosers().count)
            continuation.resume()
        }
        #expect(closed == [0, 1, 0, 1])
        #expect(refusal == .failed("the database is closed"))
        #expect(woken == 1 && ends)
    }

    @Test func `PostgreSQL jobs of several apps expire at their own deadlines`() throws {
        var state = PostgresWorkersState(limit: 2, idleTimeout: .seconds(60))
        let now = ContinuousClock.now
        for (name, seconds) in [("shop", 60), ("games", 30), ("notes", 90)] {
            let cluster = try cluster(name)
            let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
            for deadline in [now + .seconds(seconds), now] { _ = insert(job(until: deadline), in: lane, of: &state) }
        }
        let (expired, next) = state.removeExpired()
        #expect(expired.count == 3)
        #expect(next == now + .seconds(30))
    }

    @Test func `the PostgreSQL connection that was used last is used first, so that the others can be closed`() throws {
        let cluster = try cluster("shop")
        var state = PostgresWorkersState(limit: 4, idleTimeout: .seconds(60))
        let lane = state.addLane(PostgresLane(cluster: cluster, address: cluster.address))
        let workers = (1...3).map { PostgresWorker(number: $0) }
        for worker in workers {
            state.connected(worker, to: cluster)
            _ = state.next(for: worker)
        }
        for _ in 0..<2 { _ = insert(job(), in: lane, of: &state) }
        let woken = state.workersToWake().map { worker in workers.firstIndex { $0 === worker } }
        #expect(woken == [2, 1])
    }

    @Test func `at the limit, the PostgreSQL connection that was idle for longest is replaced`() throws {
        let (shop, games) = (try cluster("shop"), try cluster("games"))
        var state = PostgresWorkersState(limit: 2, idleTimeout: .seconds(60))
        let lanes = [shop, games].map { state.addLane(PostgresLane(cluster: $0, address: $0.address)) }
        for _ in 0..<2 { _ = insert(job(), in: lanes[0], of: &state) }
        let workers = state.workersToWake()
        try #require(workers.count == 2)
        for worker in workers {
            _ = state.next(for: worker)
            state.connected(worker, to: shop)
        }
        // Both run a job, and then wait.
        for worker in workers { _ = state.next(for: worker) }
        for worker in workers {
            state.finish(nil, in: lanes[0])
            _ = state.next(for: worker)
        }
        _ = insert(job(), in: lanes[1], of: &state)
        let woken = state.workersToWake()
        #expect(woken.count == 1 && woken.first === workers[0])
    }

    @Test func `a PostgreSQL database that refuses the role doesn't slow down connecting to other databases`() throws {
        let (refusing, other) = (try cluster("shop"), try cluster("games"))
        var state = PostgresWorkersState(limit: 4, idleTimeout: .seconds(60))
        let lane = state.addLane(PostgresLane(cluster: other, address: other.address))
        _ = state.failed(to: refusing, .unusable(database: "shop", detail: "no"))
        for _ in 0..<3 { _ = insert(job(), in: lane, of: &state) }
        let woken = state.workersToWake()
        #expect(woken.count == 3)
    }
}
