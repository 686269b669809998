import Foundation

/// The clocks that calls to the App Store go by; tests put their own in place.
struct AppStoreTime: Sendable {
    /// The present by the calendar: for tokens, and for instants that the App Store names.
    var now: @Sendable () -> Date
    /// Seconds since some instant, on a clock that nobody sets: for deadlines and rates.
    var uptime: @Sendable () -> TimeInterval
    /// For so many seconds. Throws `CancellationError`.
    var sleep: @Sendable (TimeInterval) async throws -> Void
    /// From 0 up to 1: spreads what would else happen at once.
    var random: @Sendable () -> Double

    static let system: AppStoreTime = {
        let start = ContinuousClock.now
        return AppStoreTime(
            now: { Date() },
            uptime: { (ContinuousClock.now - start) / .seconds(1) },
            sleep: { try await Task.sleep(for: .seconds(max(0, $0))) },
            random: { Double.random(in: 0..<1) })
    }()
}
