import Dispatch
import Foundation

/// The memory that all request bodies together may take while they are received.
///
/// When it is full, the slowest body is dropped, so that slow senders never keep others out. A part is reserved for small
/// bodies, which most syncs and all notifications are: large bodies can't take it, and never displace a small one.
final class BodyBudget: @unchecked Sendable {
    // Sound: all mutable state, that of bodies too, is used between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var total: Int
    private var taken = 0
    /// Of `taken`, what large bodies hold.
    private var takenByLarge = 0
    private var held: [NetworkAddress: Int] = [:]
    private var bodies: [ObjectIdentifier: Body] = [:]
    private var dropped: UInt64 = 0

    /// One body while it is received.
    final class Body: @unchecked Sendable {
        fileprivate let client: NetworkAddress?
        fileprivate let isNotification: Bool
        fileprivate var held = 0
        fileprivate var recent: RecentBytes
        fileprivate var isDropped = false
        /// Ends its connection.
        fileprivate let drop: @Sendable () -> Void

        fileprivate init(
            client: NetworkAddress?, isNotification: Bool, at now: UInt64, drop: @escaping @Sendable () -> Void
        ) {
            self.client = client
            self.isNotification = isNotification
            self.drop = drop
            recent = RecentBytes(window: 10, at: now)
        }

        fileprivate func isLarge(with count: Int = 0) -> Bool {
            !isNotification && held + count > BodyBudget.smallBody
        }
    }

    /// Of all services in this process, whose memory it is. Thousands of usual syncs at once, or 48 of the largest.
    static let process = BodyBudget(bytes: 256 << 20)

    /// Bytes; a sync with a receipt of 100 purchases is smaller.
    private static let smallBody = 64 * 1024
    /// Younger bodies aren't called slow. Nanoseconds.
    private static let youth: UInt64 = 2_000_000_000

    init(bytes: Int) {
        total = bytes
    }

    /// Makes room for at least four bodies of that size.
    func allow(bodies size: Int) {
        lock.lock()
        defer { lock.unlock() }
        total = max(total, 4 * size)
    }

    /// Begins a body. `drop` must end its connection; it is called at most once, on any thread.
    func open(
        for client: NetworkAddress?, isNotification: Bool = false,
        at now: UInt64 = DispatchTime.now().uptimeNanoseconds, drop: @escaping @Sendable () -> Void = {}
    ) -> Body {
        let body = Body(client: client, isNotification: isNotification, at: now, drop: drop)
        lock.lock()
        defer { lock.unlock() }
        bodies[ObjectIdentifier(body)] = body
        return body
    }

    /// Whether the body may hold `count` bytes more. False if it was dropped, or if no slower body can be dropped for it. A
    /// client has at most a quarter of the memory.
    func take(_ count: Int, for body: Body, at now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> Bool {
        var victims: [Body] = []
        let isTaken = locked {
            body.recent.add(count, at: now)
            guard !body.isDropped else { return false }
            let isLarge = body.isLarge(with: count)
            let growth = isLarge ? count + (body.isLarge() ? 0 : body.held) : 0
            while true {
                let isClientFull = !clientHasRoom(for: count, of: body)
                let isFull = taken + count > total || (isLarge && takenByLarge + growth > total - total / 4)
                guard isClientFull || isFull else { break }
                let others = bodies.values.filter { other in
                    guard other !== body, other.held > 0 else { return false }
                    return isClientFull ? other.client == body.client : other.isLarge() || !isLarge
                }
                guard let slowest = slowest(of: others, beside: body, at: now) else { return false }
                remove(slowest)
                victims.append(slowest)
            }
            body.held += count
            taken += count
            takenByLarge += growth
            if let client = body.client { held[client, default: 0] += count }
            return true
        }
        for victim in victims { victim.drop() }
        return isTaken
    }

    /// Ends a body, and returns what it held.
    func close(_ body: Body) {
        locked { release(body) }
    }

    /// How many bodies were dropped to make room.
    var droppedBodies: UInt64 { locked { dropped } }

    private func clientHasRoom(for count: Int, of body: Body) -> Bool {
        guard let client = body.client else { return true }
        return held[client, default: 0] + count <= total / 4
    }

    /// The slowest of the others; nil where all are faster than the body that needs the room, or as young.
    private func slowest(of others: [Body], beside body: Body, at now: UInt64) -> Body? {
        let old = others.filter { $0.recent.age(at: now) >= Self.youth }
        guard let slowest = old.map({ ($0, $0.recent.rate(at: now)) }).min(by: { $0.1 < $1.1 }) else { return nil }
        let isYoung = body.recent.age(at: now) < Self.youth
        return isYoung || slowest.1 < body.recent.rate(at: now) ? slowest.0 : nil
    }

    private func remove(_ body: Body) {
        body.isDropped = true
        dropped += 1
        release(body)
    }

    private func release(_ body: Body) {
        guard bodies.removeValue(forKey: ObjectIdentifier(body)) != nil else { return }
        taken -= body.held
        if body.isLarge() { takenByLarge -= body.held }
        guard let client = body.client, let theirs = held[client] else { return }
        held[client] = theirs > body.held ? theirs - body.held : nil
    }

    private func locked<Result>(_ work: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }
}
