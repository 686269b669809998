import Foundation

/// When work that failed is tried again. All in seconds.
struct WorkSchedule: Sendable, Hashable {
    /// Before the second try; it doubles with each.
    var firstWait: TimeInterval = 60
    var longestWait: TimeInterval = 6 * 3600
    /// After so many tries of what may only help later, it is given up: an id that stays unknown for days is none. A key
    /// that is not accepted says nothing of the work, which waits until somebody corrects it.
    var triesOfLater = 12

    /// Nil: never again. `tries`: how often it was tried, this time too. Whatever is not the App Store's failure is the
    /// record's, which a moment may heal.
    func nextTry(after error: any Error, tries: Int, now: Date, random: Double) -> Date? {
        let failure = error as? AppStoreFailure
        switch failure?.remedy ?? .retry {
        case .none: return nil
        case .later where tries >= triesOfLater && failure?.isOfTheKey != true: return nil
        case .later, .retry:
            let exponent = Double(min(max(tries - 1, 0), 30))
            // At least half of it: what failed at once shall not come back at once.
            let wait = min(longestWait, firstWait * pow(2, exponent)) * (0.5 + random / 2)
            return max(now.addingTimeInterval(wait), failure?.retryAt ?? now)
        }
    }
}
