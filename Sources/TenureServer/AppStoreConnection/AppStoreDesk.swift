import Foundation
import Logging
import ServiceLifecycle
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// What the service asks of the App Store on its own account: the history of whom it met for the first time, and the
/// notifications that were sent while it was away.
struct AppStoreDesk: Sendable {
    let connection: AppStoreConnection
    let store: any Store
    let policies: PolicyBook
    let notifications: NotificationService
    let logger: Logger
    let now: @Sendable () -> Date
    /// Seconds between two looks into an empty queue.
    var idle: TimeInterval = 5

    /// Seconds for which one process has a job to itself: longer than a history may take.
    private static let lease: TimeInterval = 900
    /// Seconds between two looks for missed notifications.
    private static let catchUpPause: TimeInterval = 3600

    var histories: AppStoreWork<RecordedJob> {
        AppStoreWork(
            next: { try await store.claimJob(.history, at: now(), lease: Self.lease).map { ($0, $0.tries) } },
            perform: { try await complete($0) },
            done: { try await store.finish($0) },
            failed: { job, _, until in
                if let until { try await store.postpone(job, until: until) } else { try await store.finish(job) }
            },
            idle: idle, time: connection.time, logger: logger)
    }

    /// Adds what the App Store knows of a customer to their record.
    private func complete(_ job: RecordedJob) async throws {
        guard let id = AppStoreCustomerID(job.identities) else { return }
        // Apple knows nobody whom a test authority made up.
        guard !job.customer.realm.isTest || connection.hosts != AppStoreHosts() else { return }
        let environment = job.customer.realm.environment
        let history = try await HistoryBackfill(connection: connection).history(of: id, in: environment)
        // Signed under another authority than theirs: somebody else's.
        guard history.realm == job.customer.realm, !history.identities.isEmpty else { return }
        let now = now()
        try await policies.upToDate {
            // Who was erased meanwhile is not made anew of what was under way.
            let amended = try await store.amend(job.customer, by: history.identities, at: now, adding: history.size) {
                known -> (Amendment, Result<Void, Problem>) in
                var amendment = Amendment(of: known)
                history.add(to: &amendment, of: known)
                do throws(Problem) {
                    _ = try policies.decide(&amendment, in: environment, at: now)
                    return (amendment, .success(()))
                } catch {
                    return (amendment, .failure(error))
                }
            }
            try amended?.1.get()
        }
    }

    /// Looks for missed notifications at the start, and every hour after it; soon again where that failed.
    struct CatchUp: Service {
        let desk: AppStoreDesk

        func run() async throws {
            try? await cancelWhenGracefulShutdown {
                var failures = 0
                while true {
                    var failure: (any Error)?
                    for environment in desk.connection.environments {
                        if let error = await desk.catchUp(in: environment) { failure = error }
                    }
                    failures = failure == nil ? 0 : failures + 1
                    try await desk.connection.time.sleep(desk.pause(after: failure, failures: failures))
                }
            }
        }
    }

    var catchUp: CatchUp { CatchUp(desk: self) }

    /// Under which the record has the instant up to which no notification is missing: seconds since 1970.
    static func mark(of environment: AppStoreEnvironment) -> String { "notifications \(environment.rawValue)" }

    /// Seconds until the next look.
    private func pause(after failure: (any Error)?, failures: Int) -> TimeInterval {
        guard let failure else { return Self.catchUpPause }
        let time = connection.time
        let schedule = WorkSchedule(firstWait: 15, longestWait: Self.catchUpPause)
        let next = schedule.nextTry(after: failure, tries: failures, now: time.now(), random: time.random())
        return next.map { max($0.timeIntervalSince(time.now()), 1) } ?? Self.catchUpPause
    }

    /// Returns why it failed, where it did.
    @discardableResult func catchUp(in environment: AppStoreEnvironment) async -> (any Error)? {
        let mark = Self.mark(of: environment)
        do {
            let reached = try await store.mark(mark).flatMap { Double($0) }
            // A service that starts for the first time has missed nothing.
            guard let reached else {
                try await setMark(mark, to: now())
                return nil
            }
            // Clocks differ, and what was sent at that instant may have been under way.
            let start = Date(timeIntervalSince1970: reached).addingTimeInterval(-300)
            // One that is genuine and cannot be taken before the service is put right must not keep out the others; the
            // mark stays before it, so that it comes again.
            var waits = false
            let summary = try await NotificationCatchUp(connection: connection, environment: environment).run(
                since: start,
                deliver: { jws in
                    do {
                        _ = try await notifications.receive(jws, now: now(), logger: logger)
                    } catch let problem as Problem where problem.code.status < 500 || problem.code == .misconfigured {
                        // Below 500: refused for good.
                        waits = waits || problem.code == .misconfigured
                        logger.warning("a missed notification was refused", metadata: ["detail": "\(problem.detail)"])
                    }
                },
                reached: { instant in
                    if !waits { try await setMark(mark, to: instant) }
                })
            logger.debug("asked for missed notifications", metadata: ["count": "\(summary.delivered)"])
            return nil
        } catch {
            guard !Task.isCancelled else { return nil }
            logger.warning(
                "missed notifications could not be fetched",
                metadata: ["environment": "\(environment.rawValue)", "detail": "\(error)"])
            return error
        }
    }

    private func setMark(_ name: String, to instant: Date) async throws {
        try await store.setMark(name, to: String(instant.timeIntervalSince1970))
    }
}
