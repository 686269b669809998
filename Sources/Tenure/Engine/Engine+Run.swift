import Foundation
import TenureCore

extension Engine {
    /// Looks, waits, and looks again, until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await search()
            do {
                try await setup.sleep(wait)
            } catch {
                return
            }
        }
    }

    /// Seconds until something is worth another look: a failure, the end of a right, or the next day.
    var wait: Double {
        if backoff.failures > 0 {
            return max(backoff.wait(chance: setup.chance()), min(retryAfter ?? 0, Backoff.longest))
        }
        let now = memory.time.now(setup.clock())
        let ends = view().answers.values.compactMap { $0.outcome == .granted ? $0.until : nil }
        let next = ends.filter { $0 > now }.min().map { $0.timeIntervalSince(now) + 1 }
        return next.map { min($0, Self.longestBlindness) } ?? Self.longestWait
    }

    private static let longestWait: Double = 86_400
    /// While a right runs out, the instant is written down this often: a clock turned back between two starts gains no more.
    private static let longestBlindness: Double = 900
}
