import Foundation
import Logging
import ServiceLifecycle

/// Performs the jobs of a queue, several at a time. Each job asks the App Store for something.
///
/// When the service ends, running jobs are canceled and stay in the queue.
struct JobRunner<Job: Sendable>: Service {
    /// Claims a due job, and returns it with the number of earlier tries; nil if no job is due.
    var next: @Sendable () async throws -> (job: Job, tries: Int)?
    /// Performs a job. Throws an `AppStoreFailure`, or an error of the database.
    var perform: @Sendable (Job) async throws -> Void
    /// Removes a finished job from the queue.
    var removeFinished: @Sendable (Job) async throws -> Void
    /// Postpones a failed job until a date; removes the job if the date is nil.
    var postponeFailed: @Sendable (Job, _ until: Date?) async throws -> Void

    /// The seconds until the queue is read again, after it was empty or couldn't be read.
    var idlePause: TimeInterval = 5
    var schedule = JobSchedule()
    let time: AppStoreTime
    let logger: Logger

    /// The maximum number of concurrent jobs.
    private static var concurrency: Int { 4 }

    func run() async throws {
        // Cancellation is the normal end.
        try? await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.concurrency { group.addTask { try await performJobs() } }
                try await group.waitForAll()
            }
        }
    }

    /// Performs one job after the other until the task is canceled.
    private func performJobs() async throws {
        while true {
            try Task.checkCancellation()
            if await performNextJob() { continue }
            try await time.sleep(idlePause)
        }
    }

    /// Performs the next job. Returns true if it succeeded or failed, so that another job may be due; false if no job
    /// was due, the queue can't be read, or the task was canceled.
    func performNextJob() async -> Bool {
        do {
            guard let (job, tries) = try await next() else { return false }
            do {
                try await perform(job)
            } catch {
                guard !Task.isCancelled else { return false }
                try await report(error, of: job, tries: tries + 1)
                return true
            }
            try await removeFinished(job)
            return true
        } catch {
            if !Task.isCancelled {
                logger.error(
                    "the queue of jobs for the App Store can't be read or changed; trying again",
                    metadata: ["detail": "\(error)"])
            }
            return false
        }
    }

    /// Logs a failed job, and postpones or removes it.
    private func report(_ error: any Error, of job: Job, tries: Int) async throws {
        let until = schedule.nextTry(after: error, tries: tries, now: time.now(), random: time.random())
        logger.log(
            level: until == nil ? .error : .notice, "a job for the App Store failed",
            metadata: [
                "detail": "\(error)", "tries": "\(tries)", "again": "\(until?.formatted(.iso8601) ?? "never")",
            ])
        try await postponeFailed(job, until)
    }
}
