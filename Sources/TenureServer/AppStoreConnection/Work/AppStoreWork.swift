import Foundation
import Logging
import ServiceLifecycle

/// Takes one piece of work after the other from a queue that somebody keeps, and says how each went.
///
/// Ends with the service: work that runs then is cancelled, and neither done nor failed, so that the queue gives it out
/// again.
struct AppStoreWork<Job: Sendable>: Service {
    /// A job that nobody else has in hand, and how often it was tried; nil where none is due.
    var next: @Sendable () async throws -> (job: Job, tries: Int)?
    /// Throws an `AppStoreFailure`, or what the record threw.
    var perform: @Sendable (Job) async throws -> Void
    var done: @Sendable (Job) async throws -> Void
    /// To be tried again at that instant; nil: given up.
    var failed: @Sendable (Job, _ failure: any Error, _ until: Date?) async throws -> Void

    /// How many are in hand at once.
    var width = 4
    /// Seconds between two looks into an empty queue, or one that cannot be read.
    var idle: TimeInterval = 5
    var schedule = WorkSchedule()
    var time = AppStoreTime.system
    let logger: Logger

    func run() async throws {
        // Whoever cancels it wants it to end, and it has.
        try? await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<max(1, width) { group.addTask { try await lane() } }
                try await group.waitForAll()
            }
        }
    }

    /// Throws `CancellationError` only.
    private func lane() async throws {
        while true {
            try Task.checkCancellation()
            if await step() { continue }
            try await time.sleep(idle)
        }
    }

    /// Does the next piece. Whether there was something to do, and how it went could be said.
    func step() async -> Bool {
        do {
            guard let (job, tries) = try await next() else { return false }
            do {
                try await perform(job)
            } catch {
                guard !Task.isCancelled else { return false }
                try await report(error, of: job, tries: tries + 1)
                return true
            }
            try await done(job)
            return true
        } catch {
            if !Task.isCancelled {
                logger.error("the queue of work for the App Store failed", metadata: ["detail": "\(error)"])
            }
            return false
        }
    }

    private func report(_ error: any Error, of job: Job, tries: Int) async throws {
        let until = schedule.nextTry(after: error, tries: tries, now: time.now(), random: time.random())
        logger.log(
            level: until == nil ? .error : .notice, "work for the App Store failed",
            metadata: [
                "detail": "\(error)", "tries": "\(tries)", "again": "\(until?.formatted(.iso8601) ?? "never")",
            ])
        try await failed(job, error, until)
    }
}
