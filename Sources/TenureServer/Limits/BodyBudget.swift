import Foundation

/// Bytes of bodies that all requests together may hold while they are being received: many slow senders of large bodies
/// must not take the memory of the machine, nor one of them the room of all others.
final class BodyBudget: @unchecked Sendable {
    // Sound: all mutable state is `total`, `taken` and `held`, and every use of it stands between `lock.lock()` and
    // `lock.unlock()`.
    private let lock = NSLock()
    private var total: Int
    private var taken = 0
    private var held: [NetworkAddress: Int] = [:]

    /// Of all services in this process, whose memory it is. Thousands of usual syncs at once, or 64 of the largest.
    static let process = BodyBudget(bytes: 256 << 20)

    init(bytes: Int) {
        total = bytes
    }

    /// Room for at least four bodies of that size.
    func allow(bodies size: Int) {
        lock.lock()
        defer { lock.unlock() }
        total = max(total, 4 * size)
    }

    /// Whether there was room for so many, of which each client has a quarter.
    func take(_ count: Int, for client: NetworkAddress?) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard taken + count <= total else { return false }
        if let client {
            let theirs = held[client, default: 0] + count
            guard theirs <= total / 4 else { return false }
            held[client] = theirs
        }
        taken += count
        return true
    }

    func give(_ count: Int, for client: NetworkAddress?) {
        guard count > 0 else { return }
        lock.lock()
        defer { lock.unlock() }
        taken -= count
        guard let client, let theirs = held[client] else { return }
        held[client] = theirs > count ? theirs - count : nil
    }
}
