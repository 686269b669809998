import Foundation
import ServiceLifecycle
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `the runner of App Store jobs` {
    /// A queue in memory, which opens its gate when every job is done or dropped.
    private actor Queue {
        private var due: [(job: String, tries: Int)]
        private var isBroken: Bool
        private let settled: Gate
        private var open: Int
        private(set) var done: [String] = []
        private(set) var failed: [String: Date?] = [:]

        init(_ jobs: [String], tries: Int = 0, breaksFirst: Bool = false, settled: Gate) {
            due = jobs.map { ($0, tries) }
            open = jobs.count
            isBroken = breaksFirst
            self.settled = settled
        }

        struct Broken: Error {}

        func next() throws -> (job: String, tries: Int)? {
            if isBroken {
                isBroken = false
                throw Broken()
            }
            return due.isEmpty ? nil : due.removeFirst()
        }

        func finish(_ job: String) {
            done.append(job)
            settle()
        }

        func fail(_ job: String, until: Date?) {
            failed[job] = .some(until)
            settle()
        }

        private func settle() {
            open -= 1
            if open == 0 { settled.open() }
        }
    }

    private func work(
        on queue: Queue, time: TestTime = TestTime(), perform: @escaping @Sendable (String) async throws -> Void
    ) -> JobRunner<String> {
        JobRunner(
            next: { try await queue.next() }, perform: perform, removeFinished: { await queue.finish($0) },
            postponeFailed: { job, until in await queue.fail(job, until: until) }, time: time.time,
            logger: Calculator.logger)
    }

    /// Runs the jobs until the gate opens.
    private func run(_ work: JobRunner<String>, until gate: Gate) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work.run() }
            await gate.wait()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `the runner of App Store jobs performs every job in its queue`() async throws {
        let settled = Gate()
        let jobs = (0..<20).map { "job \($0)" }
        let queue = Queue(jobs, settled: settled)
        try await run(work(on: queue) { _ in }, until: settled)
        #expect(await queue.done.sorted() == jobs.sorted())
        #expect(await queue.failed.isEmpty)
    }

    @Test func `the runner of App Store jobs performs at most four jobs at once`() async throws {
        struct Running: Sendable {
            var now = 0
            var most = 0
        }
        let settled = Gate()
        let queue = Queue((0..<20).map { "job \($0)" }, settled: settled)
        let running = Locked(Running())
        let work = work(on: queue) { _ in
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            try await Task.sleep(for: .milliseconds(5))
            running.withLock { $0.now -= 1 }
        }
        try await run(work, until: settled)
        #expect(running.withLock { (1...4).contains($0.most) })
        #expect(await queue.done.count == 20)
    }

    @Test func `the runner of App Store jobs repeats a failed job later only if a retry can help`() async throws {
        let settled = Gate()
        let queue = Queue(["unreachable", "wrong", "record"], settled: settled)
        struct Locked: Error {}
        let work = work(on: queue) { job in
            switch job {
            case "unreachable": throw AppStoreFailure.unreachable("no connection")
            case "wrong": throw AppStoreFailure.invalidID
            default: throw Locked()
            }
        }
        try await run(work, until: settled)
        let failed = await queue.failed
        #expect(await queue.done.isEmpty)
        #expect(failed["wrong"] == .some(nil))
        for job in ["unreachable", "record"] {
            let until = try #require(failed[job] ?? nil)
            #expect(until > Calculator.now)
        }
    }

    @Test func `the runner of App Store jobs continues after a failure to read the queue`() async throws {
        let settled = Gate()
        let queue = Queue(["job"], breaksFirst: true, settled: settled)
        let time = TestTime()
        try await run(work(on: queue, time: time) { _ in }, until: settled)
        #expect(await queue.done == ["job"])
    }

    @Test func `the runner of App Store jobs keeps an interrupted job in the queue when the service stops`()
        async throws
    {
        let begun = Gate()
        let settled = Gate()
        let queue = Queue(["long"], settled: settled)
        let work = work(on: queue) { _ in
            begun.open()
            try await Task.sleep(for: .seconds(3600))
        }
        let group = ServiceGroup(configuration: .init(services: [.init(service: work)], logger: Calculator.logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await begun.wait()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(await queue.done.isEmpty)
        #expect(await queue.failed.isEmpty)
    }
}
