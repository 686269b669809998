import Dispatch
import TenureCore

/// The memory that all request bodies together may take while they are received.
///
/// When the memory is full, the slowest of the oldest bodies is dropped, which closes its connection. So slow senders
/// don't block other senders. A quarter of the memory is kept for small bodies: the App Store's notifications, and
/// bodies up to 64 KiB such as most syncs. Large bodies can't use that quarter. A small body is dropped for a large
/// body only if both are from the same client.
final class BodyBudget: Sendable {
    private let state: Locked<State>

    /// One body while it is received.
    final class Body: @unchecked Sendable {
        // The lock of the budget guards the variables of all bodies, because only `State` uses them and compares them
        // with each other.

        /// The address of the client that sends the body; nil if it is unknown. Then no limit per client applies.
        fileprivate let client: NetworkAddress?
        fileprivate let isNotification: Bool
        /// The bytes of the memory that are reserved for the body.
        fileprivate var reservedBytes = 0
        /// The bytes that arrived recently, from which the body's rate is calculated.
        fileprivate var recent: RecentBytes
        /// Whether the body is still received: it wasn't dropped, and its end wasn't reached.
        fileprivate var isOpen = true
        /// Closes the connection of the body.
        fileprivate let drop: @Sendable () -> Void

        fileprivate init(
            client: NetworkAddress?, isNotification: Bool, at now: UInt64, drop: @escaping @Sendable () -> Void
        ) {
            self.client = client
            self.isNotification = isNotification
            self.drop = drop
            recent = RecentBytes(window: 10, at: now)
        }

        /// Whether the body is large once it holds `count` bytes more. A notification is never large.
        fileprivate func isLarge(adding count: Int = 0) -> Bool {
            !isNotification && reservedBytes + count > BodyBudget.maximumSmallSize
        }
    }

    /// The budget of all services in this process, which share its memory. The budget is enough for thousands of usual
    /// syncs at once, or for 48 of the largest syncs.
    static let process = BodyBudget(bytes: 256 << 20)

    /// The largest size of a small body, in bytes. A sync with a receipt of 100 purchases is smaller.
    fileprivate static let maximumSmallSize = 64 * 1024
    /// The age in nanoseconds below which a body is never called slow.
    fileprivate static let oldAge: UInt64 = 2_000_000_000
    /// The minimum size in bytes of a body to drop. Dropping a smaller body gains little. If the smaller body is slow,
    /// its connection is soon closed anyway, because of `Limits.bodyRate`.
    fileprivate static let minimumVictimSize = 4096
    /// The number of small bodies, and of large bodies, that are compared to find the slowest: the oldest of each.
    fileprivate static let maximumCompared = 64

    init(bytes: Int) { state = Locked(State(limit: bytes)) }

    /// Enlarges the budget, if necessary, to four bodies of the given size, because a client gets at most a quarter of
    /// the budget.
    func allow(bodiesOf size: Int) { state.withLock { $0.limit = max($0.limit, 4 * size) } }

    /// Begins a body of which nothing was received yet. `drop` must close the connection of the body. `drop` is called
    /// at most once, on any thread.
    func open(
        for client: NetworkAddress?, isNotification: Bool = false,
        at now: UInt64 = DispatchTime.now().uptimeNanoseconds, drop: @escaping @Sendable () -> Void = {}
    ) -> Body {
        Body(client: client, isNotification: isNotification, at: now, drop: drop)
    }

    /// Reserves `count` more bytes for the body, and drops slower bodies if there is no room. Returns false if the body
    /// itself was dropped, or if there is no room and no slower body to drop. A client gets at most a quarter of the
    /// memory.
    func reserve(_ count: Int, for body: Body, at now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> Bool {
        let (isReserved, victims) = state.withLock { $0.reserve(count, for: body, at: now) }
        for victim in victims { victim.drop() }
        return isReserved
    }

    /// Ends a body, and releases its memory.
    func close(_ body: Body) { state.withLock { $0.release(body) } }

    /// How many bodies were dropped to make room.
    var droppedBodies: UInt64 { state.withLock { $0.droppedBodies } }
}

/// The state of a `BodyBudget`: how much memory bodies may take, how much memory is reserved, and the bodies for which
/// it is reserved. All sizes are in bytes.
private struct State {
    typealias Body = BodyBudget.Body

    /// The memory that all bodies together may take.
    var limit: Int
    var reservedBytes = 0
    /// The part of `reservedBytes` that large bodies use.
    var reservedByLargeBodies = 0
    /// The reserved bytes of each client.
    var reservedByClient: [NetworkAddress: Int] = [:]
    /// The bodies that may be dropped: those that hold at least `minimumVictimSize`, in the order in which they reached
    /// that size. A body that becomes large moves to the end of `largeBodies`.
    var smallBodies = BodyQueue()
    var largeBodies = BodyQueue()
    /// The bodies in both queues, by client.
    var bodiesByClient: [NetworkAddress: BodyQueue] = [:]
    /// How many bodies were dropped.
    var droppedBodies: UInt64 = 0

    /// Reserves `count` more bytes for the body. Returns whether the bytes were reserved, and the bodies that the
    /// caller must drop.
    mutating func reserve(_ count: Int, for body: Body, at now: UInt64) -> (isReserved: Bool, victims: [Body]) {
        var victims: [Body] = []
        body.recent.add(count, at: now)
        guard body.isOpen else { return (false, victims) }
        let isLarge = body.isLarge(adding: count)
        // If the body becomes large now, the bytes that it already holds become part of `reservedByLargeBodies`.
        let growth = isLarge ? count + (body.isLarge() ? 0 : body.reservedBytes) : 0
        // Drops one body after the other until there is room.
        while true {
            let isClientFull = !clientHasRoom(for: count, of: body)
            let isFull =
                reservedBytes + count > limit || (isLarge && reservedByLargeBodies + growth > limit - limit / 4)
            guard isClientFull || isFull else { break }
            let candidates = isClientFull ? droppableBodies(ofClientOf: body) : droppableBodies(isLarge: isLarge)
            guard let slowest = slowest(of: candidates.filter { $0 !== body }, beside: body, at: now) else {
                return (false, victims)
            }
            release(slowest)
            droppedBodies += 1
            victims.append(slowest)
        }
        queue(body, adding: count)
        body.reservedBytes += count
        reservedBytes += count
        reservedByLargeBodies += growth
        if let client = body.client { reservedByClient[client, default: 0] += count }
        return (true, victims)
    }

    /// Whether the client of the body stays below its quarter of the memory.
    private func clientHasRoom(for count: Int, of body: Body) -> Bool {
        guard let client = body.client else { return true }
        return reservedByClient[client, default: 0] + count <= limit / 4
    }

    /// Returns the slowest of `candidates`, which the caller drops. Nil if all candidates are too young, or not slower
    /// than the body that needs the memory. Nothing is known about the rate of a young body, so it is treated as fast.
    private func slowest(of candidates: [Body], beside body: Body, at now: UInt64) -> Body? {
        let old = candidates.filter { $0.recent.age(at: now) >= BodyBudget.oldAge }
        let rates = old.map { (body: $0, rate: $0.recent.rate(at: now)) }
        guard let slowest = rates.min(by: { $0.rate < $1.rate }) else { return nil }
        let isYoung = body.recent.age(at: now) < BodyBudget.oldAge
        return isYoung || slowest.rate < body.recent.rate(at: now) ? slowest.body : nil
    }

    /// The oldest bodies of the same client: one more than `maximumCompared`, because `body` itself may be among them
    /// and isn't compared.
    private func droppableBodies(ofClientOf body: Body) -> [Body] {
        body.client.flatMap { bodiesByClient[$0]?.first(BodyBudget.maximumCompared + 1) } ?? []
    }

    /// The oldest bodies that may be dropped. Only other large bodies may be dropped for a large body.
    private func droppableBodies(isLarge: Bool) -> [Body] {
        largeBodies.first(BodyBudget.maximumCompared + 1)
            + (isLarge ? [] : smallBodies.first(BodyBudget.maximumCompared + 1))
    }

    /// Puts a body into the queues to which it belongs once it holds `count` bytes more.
    private mutating func queue(_ body: Body, adding count: Int) {
        guard body.reservedBytes + count >= BodyBudget.minimumVictimSize else { return }
        if body.isLarge(adding: count) {
            guard largeBodies.append(body) else { return }
            smallBodies.remove(body)
        } else {
            guard smallBodies.append(body) else { return }
        }
        if let client = body.client { bodiesByClient[client, default: BodyQueue()].append(body) }
    }

    /// Releases the memory of a body that ended or is dropped. Does nothing if it was released before.
    mutating func release(_ body: Body) {
        guard body.isOpen else { return }
        body.isOpen = false
        smallBodies.remove(body)
        largeBodies.remove(body)
        if let client = body.client {
            bodiesByClient[client]?.remove(body)
            if bodiesByClient[client]?.isEmpty == true { bodiesByClient[client] = nil }
        }
        reservedBytes -= body.reservedBytes
        if body.isLarge() { reservedByLargeBodies -= body.reservedBytes }
        guard let client = body.client, let reserved = reservedByClient[client] else { return }
        reservedByClient[client] = reserved > body.reservedBytes ? reserved - body.reservedBytes : nil
    }
}

/// Bodies in the order in which they were added: a doubly linked list. The time to add or remove a body doesn't depend
/// on the number of bodies.
private struct BodyQueue {
    private struct Node {
        let body: BodyBudget.Body
        var previous: ObjectIdentifier?
        var next: ObjectIdentifier?
    }

    private var nodes: [ObjectIdentifier: Node] = [:]
    private var head: ObjectIdentifier?
    private var tail: ObjectIdentifier?

    var isEmpty: Bool { nodes.isEmpty }

    /// Adds a body at the end. Returns false if the body is in the queue already.
    @discardableResult mutating func append(_ body: BodyBudget.Body) -> Bool {
        let id = ObjectIdentifier(body)
        guard nodes[id] == nil else { return false }
        nodes[id] = Node(body: body, previous: tail)
        if let tail { nodes[tail]?.next = id } else { head = id }
        tail = id
        return true
    }

    mutating func remove(_ body: BodyBudget.Body) {
        guard let node = nodes.removeValue(forKey: ObjectIdentifier(body)) else { return }
        if let previous = node.previous { nodes[previous]?.next = node.next } else { head = node.next }
        if let next = node.next { nodes[next]?.previous = node.previous } else { tail = node.previous }
    }

    /// Returns the `count` bodies that were added first, or all if there are fewer.
    func first(_ count: Int) -> [BodyBudget.Body] {
        var bodies: [BodyBudget.Body] = []
        var next = head
        while let id = next, let node = nodes[id], bodies.count < count {
            bodies.append(node.body)
            next = node.next
        }
        return bodies
    }
}
