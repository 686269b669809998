import Foundation

/// Bytes of bodies that all requests together may hold while they are being received: many slow senders of large bodies
/// must not take the memory of the machine.
final class BodyBudget: @unchecked Sendable {
    // Sound: `left` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var left: Int

    /// Of all services in this process, whose memory it is. Thousands of usual syncs at once, or 64 of the largest.
    static let process = BodyBudget(bytes: 256 << 20)

    init(bytes: Int) {
        left = bytes
    }

    /// Whether there was room for so many.
    func take(_ count: Int) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard count <= left else { return false }
        left -= count
        return true
    }

    func give(_ count: Int) {
        lock.lock()
        defer { lock.unlock() }
        left += count
    }
}
