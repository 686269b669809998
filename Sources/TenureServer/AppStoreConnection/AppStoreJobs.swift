import Foundation
import Logging
import ServiceLifecycle
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The jobs of the service that use the App Store Server API: they fetch the history of new customers, and the
/// notifications that were sent while the service was down.
struct AppStoreJobs: Sendable {
    let connection: AppStoreConnection
    let store: Store
    let policies: ActivePolicy
    let notifications: NotificationService
    let logger: Logger
    let now: @Sendable () -> Date
    /// The seconds between two reads of an empty queue.
    var idle: TimeInterval = 5

    /// The seconds for which a process holds a job, longer than fetching a history may take.
    private static let lease: TimeInterval = 900
    /// The seconds between two searches for missed notifications.
    private static let catchUpPause: TimeInterval = 3600

    var histories: AppStoreWork<StoredJob> {
        AppStoreWork(
            next: {
                let job = try await store.write(at: now()) { try $0.claimJob(.history, lease: Self.lease) }
                return job.map { ($0, $0.tries) }
            },
            perform: { try await complete($0) },
            done: { job in try await store.write { try $0.finish(job) } },
            failed: { job, _, until in
                try await store.write {
                    if let until { try $0.postpone(job, until: until) } else { try $0.finish(job) }
                }
            },
            idle: idle, time: connection.time, logger: logger)
    }

    /// Adds what the App Store knows of a customer to their record.
    private func complete(_ job: StoredJob) async throws {
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
            let updated = try await store.update(job.customer, by: history.identities, at: now, adding: history.size) {
                known -> (CustomerUpdate, Result<Void, Problem>) in
                var update = CustomerUpdate(of: known)
                history.add(to: &update, of: known)
                do throws(Problem) {
                    _ = try policies.decide(&update, in: environment, at: now)
                    return (update, .success(()))
                } catch {
                    return (update, .failure(error))
                }
            }
            try updated?.outcome.get()
        }
    }

    /// Fetches missed notifications at the start and then every hour, or soon again after a failure.
    struct CatchUp: Service {
        let jobs: AppStoreJobs

        func run() async throws {
            try? await cancelWhenGracefulShutdown {
                var failures = 0
                while true {
                    var failure: (any Error)?
                    for environment in jobs.connection.environments {
                        if let error = await jobs.catchUp(in: environment) { failure = error }
                    }
                    failures = failure == nil ? 0 : failures + 1
                    try await jobs.connection.time.sleep(jobs.pause(after: failure, failures: failures))
                }
            }
        }
    }

    var catchUp: CatchUp { CatchUp(jobs: self) }

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
            let reached = try await store.read { try $0.progress(mark) }.flatMap { Double($0) }
            // A service that starts for the first time has missed nothing.
            guard let reached else {
                try await setProgress(mark, to: now())
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
                    if !waits { try await setProgress(mark, to: instant) }
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

    private func setProgress(_ name: String, to instant: Date) async throws {
        try await store.write(locking: [.progress(name)]) {
            try $0.setProgress(name, to: String(instant.timeIntervalSince1970))
        }
    }
}
