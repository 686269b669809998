import Foundation

/// The clocks and random numbers for requests to the App Store. Tests replace them.
struct AppStoreTime: Sendable {
    /// The current date, for tokens and for dates from the App Store.
    var now: @Sendable () -> Date
    /// The seconds on a clock that can't be set, for deadlines and rates.
    var uptime: @Sendable () -> TimeInterval
    /// Waits for this many seconds. Throws `CancellationError`.
    var sleep: @Sendable (TimeInterval) async throws -> Void
    /// A random number from 0 up to 1, which spreads retries.
    var random: @Sendable () -> Double

    /// The system's clocks and random numbers.
    static let system: AppStoreTime = {
        let start = ContinuousClock.now
        return AppStoreTime(
            now: { Date() }, uptime: { (ContinuousClock.now - start) / .seconds(1) },
            sleep: { try await Task.sleep(for: .seconds(max(0, $0))) }, random: { Double.random(in: 0..<1) })
    }()
}
