import Foundation
import Logging
import ServiceLifecycle
import TenureAPI
import TenureCore
import TenureStore

/// Fetches the notifications that were sent while the service was down: at the start, then every hour, or sooner after
/// a failure.
struct MissedNotifications: Service {
    let client: AppStoreClient
    let store: Store
    let notifications: NotificationService
    let logger: Logger
    let now: @Sendable () -> Date

    /// The seconds between two requests for missed notifications.
    private static let pause: TimeInterval = 3600

    func run() async throws {
        // Cancellation is the normal end.
        try? await cancelWhenGracefulShutdown {
            var failures = 0
            while true {
                var failure: (any Error)?
                for environment in client.environments {
                    if let error = await fetch(in: environment) { failure = error }
                }
                failures = failure == nil ? 0 : failures + 1
                try await client.time.sleep(pause(after: failure, failures: failures))
            }
        }
    }

    /// The name of the environment's row in the table `progress`. The row has the instant up to which no notification
    /// is missing, in seconds since 1970.
    static func progressName(for environment: AppStoreEnvironment) -> String { "notifications \(environment.rawValue)" }

    /// Returns the seconds until the next request for missed notifications.
    ///
    /// - Parameter failures: The number of consecutive failures, the last one included.
    private func pause(after failure: (any Error)?, failures: Int) -> TimeInterval {
        guard let failure else { return Self.pause }
        let time = client.time
        let schedule = JobSchedule(firstWait: 15, maximumWait: Self.pause)
        let next = schedule.nextTry(after: failure, tries: failures, now: time.now(), random: time.random())
        return next.map { max($0.timeIntervalSince(time.now()), 1) } ?? Self.pause
    }

    /// Fetches the missed notifications of an environment. Returns the error if that fails; nil if it succeeds or is
    /// canceled.
    @discardableResult func fetch(in environment: AppStoreEnvironment) async -> (any Error)? {
        do {
            let name = Self.progressName(for: environment)
            let reached = try await store.read { try $0.storedValue(named: name) }.flatMap { Double($0) }
            // If nothing is stored, this is the service's first start, and it has missed nothing.
            guard let reached else {
                try await setReachedInstant(now(), in: environment)
                return nil
            }
            // Begins five minutes earlier, because clocks differ, and a notification may have been on its way.
            let start = Date(timeIntervalSince1970: reached).addingTimeInterval(-300)
            // If the service is misconfigured, it can't accept some notifications. Then it accepts the others, but
            // doesn't advance the stored instant, so that the next request fetches all of them again.
            var keepsInstant = false
            let summary = try await NotificationHistoryReader(client: client, environment: environment).run(
                since: start,
                deliver: { jws in
                    do {
                        _ = try await notifications.receive(jws, now: now(), logger: logger)
                    } catch let problem as Problem where problem.code.status < 500 || problem.code == .misconfigured {
                        // A status below 500 is permanent: the notification isn't fetched again.
                        if problem.code == .misconfigured { keepsInstant = true }
                        logger.warning("a missed notification was refused", metadata: ["detail": "\(problem.detail)"])
                    }
                },
                reached: { instant in
                    if !keepsInstant { try await setReachedInstant(instant, in: environment) }
                })
            logger.debug("fetched missed notifications", metadata: ["count": "\(summary.delivered)"])
            return nil
        } catch {
            guard !Task.isCancelled else { return nil }
            logger.warning(
                "missed notifications can't be fetched; trying again later",
                metadata: ["environment": "\(environment.rawValue)", "detail": "\(error)"])
            return error
        }
    }

    /// Stores the instant up to which no notification is missing.
    private func setReachedInstant(_ instant: Date, in environment: AppStoreEnvironment) async throws {
        let name = Self.progressName(for: environment)
        try await store.write(locking: [.progress(name)]) {
            try $0.setStoredValue(named: name, to: String(instant.timeIntervalSince1970))
        }
    }
}
