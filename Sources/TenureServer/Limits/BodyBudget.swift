import Dispatch
import TenureCore

/// The memory that all request bodies together may take while they are received.
///
/// When the memory is full, the slowest of the oldest bodies is dropped, so that slow senders don't block others. A part
/// is reserved for small bodies, such as notifications and most syncs. Large bodies can't use that part, and never cause
/// a small body to be dropped.
final class BodyBudget: Sendable {
    private let state: Locked<State>

    /// One body while it is received.
    final class Body: @unchecked Sendable {
        // The lock of the budget guards the variables of all bodies, because only `State` uses them and compares them
        // with each other.
        fileprivate let client: NetworkAddress?
        fileprivate let isNotification: Bool
        fileprivate var held = 0
        fileprivate var recent: RecentBytes
        fileprivate var isOpen = true
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

    /// The budget of all services in this process, which share its memory. Enough for thousands of usual syncs at once,
    /// or for 48 of the largest.
    static let process = BodyBudget(bytes: 256 << 20)

    /// The largest size of a small body, in bytes. A sync with a receipt of 100 purchases is smaller.
    fileprivate static let smallBody = 64 * 1024
    /// The age in nanoseconds below which a body doesn't count as slow.
    fileprivate static let youth: UInt64 = 2_000_000_000
    /// The smallest size in bytes for which dropping a body is worth it. The minimum rate ends smaller ones soon.
    fileprivate static let minimumVictimSize = 4096
    /// How many of the small bodies, and of the large ones, that have been arriving for longest are compared.
    fileprivate static let compared = 64

    init(bytes: Int) {
        state = Locked(State(total: bytes))
    }

    /// Makes room for at least four bodies of that size.
    func allow(bodies size: Int) {
        state.withLock { $0.total = max($0.total, 4 * size) }
    }

    /// Begins a body. `drop` must end its connection; it is called at most once, on any thread.
    func open(
        for client: NetworkAddress?, isNotification: Bool = false,
        at now: UInt64 = DispatchTime.now().uptimeNanoseconds, drop: @escaping @Sendable () -> Void = {}
    ) -> Body {
        Body(client: client, isNotification: isNotification, at: now, drop: drop)
    }

    /// Reserves `count` more bytes for the body. Returns false if it was dropped, or if no slower body can be dropped
    /// for it. A client gets at most a quarter of the memory.
    func take(_ count: Int, for body: Body, at now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> Bool {
        let (isTaken, victims) = state.withLock { $0.take(count, for: body, at: now) }
        for victim in victims { victim.drop() }
        return isTaken
    }

    /// Ends a body, and releases its memory.
    func close(_ body: Body) {
        state.withLock { $0.release(body) }
    }

    /// How many bodies were dropped to make room.
    var droppedBodies: UInt64 { state.withLock { $0.dropped } }
}

private struct State {
    var total: Int
    private var taken = 0
    /// The part of `taken` that large bodies use.
    private var takenByLarge = 0
    private var held: [NetworkAddress: Int] = [:]
    /// Bodies that may be dropped, in the order in which they began to hold something.
    private var small = BodyQueue()
    private var large = BodyQueue()
    private var ofClient: [NetworkAddress: BodyQueue] = [:]
    private(set) var dropped: UInt64 = 0

    init(total: Int) {
        self.total = total
    }

    /// Whether the body may hold `count` bytes more, and the bodies that must be dropped.
    mutating func take(_ count: Int, for body: BodyBudget.Body, at now: UInt64) -> (Bool, [BodyBudget.Body]) {
        var victims: [BodyBudget.Body] = []
        body.recent.add(count, at: now)
        guard body.isOpen else { return (false, victims) }
        let isLarge = body.isLarge(with: count)
        let growth = isLarge ? count + (body.isLarge() ? 0 : body.held) : 0
        while true {
            let isClientFull = !clientHasRoom(for: count, of: body)
            let isFull = taken + count > total || (isLarge && takenByLarge + growth > total - total / 4)
            guard isClientFull || isFull else { break }
            let others = isClientFull ? others(ofClientOf: body) : others(isLarge: isLarge)
            guard let slowest = slowest(of: others.filter { $0 !== body }, beside: body, at: now) else {
                return (false, victims)
            }
            remove(slowest)
            victims.append(slowest)
        }
        queue(body, with: count)
        body.held += count
        taken += count
        takenByLarge += growth
        if let client = body.client { held[client, default: 0] += count }
        return (true, victims)
    }

    private func clientHasRoom(for count: Int, of body: BodyBudget.Body) -> Bool {
        guard let client = body.client else { return true }
        return held[client, default: 0] + count <= total / 4
    }

    /// The slowest of `others`, which is dropped. Nil if all are too young, or faster than the body that needs the memory.
    private func slowest(of others: [BodyBudget.Body], beside body: BodyBudget.Body, at now: UInt64) -> BodyBudget.Body?
    {
        let old = others.filter { $0.recent.age(at: now) >= BodyBudget.youth }
        guard let slowest = old.map({ ($0, $0.recent.rate(at: now)) }).min(by: { $0.1 < $1.1 }) else { return nil }
        let isYoung = body.recent.age(at: now) < BodyBudget.youth
        return isYoung || slowest.1 < body.recent.rate(at: now) ? slowest.0 : nil
    }

    private func others(ofClientOf body: BodyBudget.Body) -> [BodyBudget.Body] {
        body.client.flatMap { ofClient[$0]?.first(BodyBudget.compared + 1) } ?? []
    }

    /// The bodies that may be dropped for a large or a small body.
    private func others(isLarge: Bool) -> [BodyBudget.Body] {
        large.first(BodyBudget.compared + 1) + (isLarge ? [] : small.first(BodyBudget.compared + 1))
    }

    /// Puts a body into the queues to which it belongs once it holds `count` bytes more.
    private mutating func queue(_ body: BodyBudget.Body, with count: Int) {
        guard body.held + count >= BodyBudget.minimumVictimSize else { return }
        if body.isLarge(with: count) {
            guard large.append(body) else { return }
            small.remove(body)
        } else {
            guard small.append(body) else { return }
        }
        if let client = body.client { ofClient[client, default: BodyQueue()].append(body) }
    }

    private mutating func remove(_ body: BodyBudget.Body) {
        dropped += 1
        release(body)
    }

    mutating func release(_ body: BodyBudget.Body) {
        guard body.isOpen else { return }
        body.isOpen = false
        small.remove(body)
        large.remove(body)
        if let client = body.client {
            ofClient[client]?.remove(body)
            if ofClient[client]?.isEmpty == true { ofClient[client] = nil }
        }
        taken -= body.held
        if body.isLarge() { takenByLarge -= body.held }
        guard let client = body.client, let theirs = held[client] else { return }
        held[client] = theirs > body.held ? theirs - body.held : nil
    }
}

/// Bodies in the order in which they were added. Adding and removing one takes the same time however many there are.
private struct BodyQueue {
    private struct Place {
        let body: BodyBudget.Body
        var previous: ObjectIdentifier?
        var next: ObjectIdentifier?
    }

    private var places: [ObjectIdentifier: Place] = [:]
    private var head: ObjectIdentifier?
    private var tail: ObjectIdentifier?

    var isEmpty: Bool { places.isEmpty }

    /// False if the body is in the queue already.
    @discardableResult mutating func append(_ body: BodyBudget.Body) -> Bool {
        let id = ObjectIdentifier(body)
        guard places[id] == nil else { return false }
        places[id] = Place(body: body, previous: tail)
        if let tail { places[tail]?.next = id } else { head = id }
        tail = id
        return true
    }

    mutating func remove(_ body: BodyBudget.Body) {
        guard let place = places.removeValue(forKey: ObjectIdentifier(body)) else { return }
        if let previous = place.previous { places[previous]?.next = place.next } else { head = place.next }
        if let next = place.next { places[next]?.previous = place.previous } else { tail = place.previous }
    }

    func first(_ count: Int) -> [BodyBudget.Body] {
        var bodies: [BodyBudget.Body] = []
        var next = head
        while let id = next, let place = places[id], bodies.count < count {
            bodies.append(place.body)
            next = place.next
        }
        return bodies
    }
}
