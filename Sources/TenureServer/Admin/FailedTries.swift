import Foundation
import TenureAPI

/// Counts wrong keys by the address from which they came, so that nobody can try many.
final class FailedTries: @unchecked Sendable {
    // Sound: `windows` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var windows: [String: Window] = [:]

    private struct Window {
        let end: Date
        var count: Int

        /// Not where the clock was set back; a request that is late by less than a window belongs to it.
        func holds(_ now: Date) -> Bool { now < end && end.timeIntervalSince(now) <= 2 * FailedTries.length }
    }

    static let limit = 10
    static let length: TimeInterval = 60
    /// Addresses that are remembered at once.
    static let capacity = 4096

    static func name(of peer: Peer?) -> String { peer?.address?.ofClient.description ?? "unknown" }

    /// Throws `tooManyRequests` where that address must wait.
    func check(_ address: String, now: Date) throws(Problem) {
        guard let seconds = wait(for: address, now: now) else { return }
        throw Problem(
            .tooManyRequests, "too many wrong keys came from your address; wait \(seconds) seconds",
            retryAfter: seconds)
    }

    /// Seconds until that address may try again; nil: now.
    func wait(for address: String, now: Date) -> Int? {
        lock.lock()
        defer { lock.unlock() }
        guard let window = windows[address], window.count >= Self.limit, window.holds(now) else { return nil }
        return max(1, Int(window.end.timeIntervalSince(now).rounded(.up)))
    }

    /// How many addresses are remembered.
    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return windows.count
    }

    /// Returns how many there were in this window.
    func add(_ address: String, now: Date) -> Int {
        lock.lock()
        defer { lock.unlock() }
        if windows[address] == nil, windows.count >= Self.capacity {
            windows = windows.filter { $0.value.holds(now) }
            // Whoever has so many addresses is not held up by counting them.
            if windows.count >= Self.capacity { windows = [:] }
        }
        var window = windows[address] ?? Window(end: now.addingTimeInterval(Self.length), count: 0)
        if !window.holds(now) { window = Window(end: now.addingTimeInterval(Self.length), count: 0) }
        window.count += 1
        windows[address] = window
        return window.count
    }
}
