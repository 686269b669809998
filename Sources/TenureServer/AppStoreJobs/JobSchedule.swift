import Foundation

/// The rules for when a failed job of a `JobRunner` or of `MissedNotifications` is tried again. Times are in seconds.
struct JobSchedule: Sendable, Hashable {
    /// The longest wait before the second try. The longest wait doubles with each further try.
    var firstWait: TimeInterval = 60
    /// The longest wait before any try.
    var maximumWait: TimeInterval = 6 * 3600
    /// The number of tries after which a job is removed if its failure has the remedy `later`. These tries take 10 to
    /// 20 hours; an ID that the App Store still doesn't know then is wrong. There is no limit while the App Store
    /// rejects the key, because the operator has to correct the key.
    var maximumDelayedTries = 12

    /// Returns the date of the next try; nil if the job isn't tried again. An error of the database is treated like a
    /// failure with the remedy `retry`.
    ///
    /// - Parameter tries: The number of tries, this one included.
    func nextTry(after error: any Error, tries: Int, now: Date, random: Double) -> Date? {
        let failure = error as? AppStoreFailure
        switch failure?.remedy ?? .retry {
        case .none: return nil
        case .later where tries >= maximumDelayedTries && failure?.isKeyProblem != true: return nil
        case .later, .retry:
            // More than 30 doublings make no difference, because of `maximumWait`.
            let exponent = Double(min(max(tries - 1, 0), 30))
            // The wait is random between half of this time and all of it, so that jobs that failed together aren't
            // retried together.
            let wait = min(maximumWait, firstWait * pow(2, exponent)) * (0.5 + random / 2)
            return max(now.addingTimeInterval(wait), failure?.retryAt ?? now)
        }
    }
}
