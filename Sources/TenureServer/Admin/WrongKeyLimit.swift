import Foundation
import Hummingbird
import TenureAPI
import TenureCore

/// Limits the wrong admin keys from one address, so that keys can't be guessed.
final class WrongKeyLimit: Sendable {
    /// A minute in which the wrong keys of one address are counted.
    private struct Window {
        let end: Date
        /// The number of wrong keys.
        var count: Int

        /// Whether the window is open now. If the clock was set back by more than a window's length, the window counts
        /// as over, because it would end too late.
        func contains(_ now: Date) -> Bool { now < end && end.timeIntervalSince(now) <= 2 * WrongKeyLimit.length }
    }

    /// The window of each address. See `countedAddress(of:)` for the form of an address.
    private let windows = Locked<[String: Window]>([:])

    /// The number of wrong keys in a window, after which the address must wait until the window ends.
    static let limit = 10
    /// The length of a window in seconds.
    static let length: TimeInterval = 60
    /// The maximum number of remembered addresses.
    static let capacity = 4096

    /// The address for which a client's wrong keys are counted: the client's IPv4 address, the /64 network of its IPv6
    /// address, or `unknown` for all clients without an IP address.
    static func countedAddress(of peer: Peer?) -> String { peer?.address?.ofClient.description ?? "unknown" }

    /// Checks that a client with this address may try a key now. Throws `tooManyRequests` if the client must wait.
    func check(_ address: String, now: Date) throws(Problem) {
        guard let seconds = wait(for: address, now: now) else { return }
        throw Problem(
            .tooManyRequests, "too many wrong keys came from your address; try again after \(seconds) s",
            retryAfter: seconds)
    }

    /// Checks that the request has this admin key. Otherwise throws `refusal`, or `tooManyRequests` after many wrong
    /// keys.
    ///
    /// As in `AdminKeyCheck`, a request without a key isn't counted as a wrong key, and the correct key always works.
    func check(
        _ key: AdminKey?, in request: Request, from address: String, now: Date, else refusal: Problem
    ) throws(Problem) {
        guard request.hasAuthorization else { throw refusal }
        if let key, key.matches(request) { return }
        try check(address, now: now)
        _ = countWrongKey(from: address, now: now)
        throw refusal
    }

    /// Returns the seconds until a client with this address may try again; nil if it may try now.
    func wait(for address: String, now: Date) -> Int? {
        guard let window = windows.withLock({ $0[address] }), window.count >= Self.limit, window.contains(now) else {
            return nil
        }
        return max(1, Int(window.end.timeIntervalSince(now).rounded(.up)))
    }

    /// The number of remembered addresses.
    var count: Int { windows.withLock { $0.count } }

    /// Counts a wrong key, and returns the number of wrong keys in this window.
    func countWrongKey(from address: String, now: Date) -> Int {
        windows.withLock { windows in
            if windows[address] == nil, windows.count >= Self.capacity {
                windows = windows.filter { $0.value.contains(now) }
                // A client that has so many addresses can't be stopped by counting, so the table is emptied to limit
                // the memory.
                if windows.count >= Self.capacity { windows = [:] }
            }
            var window = Window(end: now.addingTimeInterval(Self.length), count: 0)
            if let current = windows[address], current.contains(now) { window = current }
            window.count += 1
            windows[address] = window
            return window.count
        }
    }
}
