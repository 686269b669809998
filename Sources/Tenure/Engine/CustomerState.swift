import Foundation
import TenureCore

/// A snapshot of what is known. Callers read it, and only the engine writes it.
///
/// One lock guards a few values: a question with a known answer costs one dictionary lookup and allocates nothing.
final class CustomerState: Sendable {
    /// The engine's results.
    struct Snapshot: Sendable {
        var customer: Tenure.Customer
        /// The answers for products that unlock content by themselves; see `Evaluation.productAnswers`.
        var productAnswers: [String: Tenure.Answer] = [:]
        /// The latest instant at which this device has been.
        var floor: Date
        /// How often a new signature has shown that the clock had been wrong.
        var clockCorrections = 0
        /// Whether a search has ended since the app started.
        var isSearched = false
        /// When the last search ended, by the device's clock.
        var checkedAt: Date?
        /// How often another account was signed in.
        var accountChanges = 0
        /// Whether an entitlement without an answer is a misspelled name.
        var knowsAllNames = false
        /// The end of the grace period for undetermined decisions. Nil: there is no grace period.
        var graceEnds: Date?
        /// Entitlements that were denied when everything was last known.
        var denials: Set<String> = []
        /// Allows every entitlement: while only reporting, or in a copy from outside the App Store.
        var allowsEverything = false
        /// Allows nothing that isn't granted.
        var hasNoGrace = false
    }

    enum Verdict: Sendable {
        case yes
        /// A known denial, checked less than a minute ago.
        case no
        /// A known denial that should be checked again.
        case stale
        /// The right has ended since the last search. It may have been renewed.
        case ended
        /// The first search is still running, or the stored state wasn't read yet.
        case resolving
    }

    fileprivate struct State {
        var snapshot: Snapshot
        /// When each granted right ends, in seconds since the reference date. Infinity: never.
        var ends: [String: Double] = [:]
        var floor: Double
        /// Rights that have ended. They get no grace period, even if the clock is turned back afterward.
        var over: Set<String> = []
        /// The end of each running trial session.
        var sessions: [String: [UUID: Double]] = [:]
        /// Whether the first search took longer than callers should wait.
        var isResolvingOver = false
        /// The customer that watchers received last.
        var published: Tenure.Customer?
        var timer: (at: Double, task: Task<Void, Never>)?
        var isClosed = false
    }

    /// The age in seconds after which a denial is checked again for a caller.
    static let denialLifetime: TimeInterval = 60

    private let state: Locked<State>
    private let watchers = Watchers<Tenure.Customer>()
    private let clock: @Sendable () -> Date
    private let waitUntil: @Sendable (Date) async throws -> Void

    init(
        _ snapshot: Snapshot, clock: @escaping @Sendable () -> Date,
        waitUntil: @escaping @Sendable (Date) async throws -> Void
    ) {
        self.clock = clock
        self.waitUntil = waitUntil
        state = Locked(
            State(
                snapshot: snapshot, ends: snapshot.ends,
                floor: snapshot.floor.timeIntervalSinceReferenceDate))
    }

    /// The latest instant at which a caller asked.
    var latest: Date { state.withLock { Date(timeIntervalSinceReferenceDate: $0.floor) } }

    /// The customer at this instant.
    var customer: Tenure.Customer {
        let now = clock().timeIntervalSinceReferenceDate
        return state.withLock { state in
            state.observe(now)
            return state.customer
        }
    }

    // MARK: Questions

    func verdict(on entitlement: String) -> Verdict {
        let clock = clock().timeIntervalSinceReferenceDate
        return state.withLock { state in
            state.observe(clock)
            let now = state.floor
            if let end = state.ends[entitlement] {
                if now < end { return .yes }
                state.over.insert(entitlement)
                return state.snapshot.isSearched ? .ended : .resolving
            }
            if state.snapshot.allowsEverything || state.hasSession(of: entitlement) { return .yes }
            guard !state.isResolving else { return .resolving }
            if state.hasGrace(entitlement) { return .yes }
            guard let checked = state.snapshot.checkedAt?.timeIntervalSinceReferenceDate,
                abs(clock - checked) < Self.denialLifetime
            else { return .stale }
            return .no
        }
    }

    /// Returns the answer for a caller that has waited long enough.
    func allows(_ entitlement: String) -> Bool {
        let clock = clock().timeIntervalSinceReferenceDate
        return state.withLock { state in
            state.observe(clock)
            return state.allows(entitlement)
        }
    }

    /// Returns whether there is no entitlement with this name.
    func isUnknown(_ entitlement: String) -> Bool {
        state.withLock { $0.knowsAllNames && $0.snapshot.customer.answers[entitlement] == nil }
    }

    /// The next instant at which time alone ends a right. Nil: none ends.
    var nextEnd: Date? {
        let clock = clock().timeIntervalSinceReferenceDate
        return state.withLock { state in
            state.observe(clock)
            return state.nextChange.map { Date(timeIntervalSinceReferenceDate: $0) }
        }
    }

    // MARK: Changes

    func post(_ snapshot: Snapshot) {
        let ends = snapshot.ends
        state.withLock { state in
            let floor = snapshot.floor.timeIntervalSinceReferenceDate
            // Only a new signature turns time back. A caller may have seen a later clock meanwhile.
            let isClockCorrected = snapshot.clockCorrections > state.snapshot.clockCorrections
            state.floor = isClockCorrected ? floor : max(state.floor, floor)
            if snapshot.accountChanges != state.snapshot.accountChanges { state.over = [] }
            for name in state.over where isClockCorrected || (ends[name] ?? 0) > state.floor { state.over.remove(name) }
            state.snapshot = snapshot
            state.ends = ends
        }
        publish()
    }

    /// Ends the wait for the first search, which goes on.
    func endResolving() {
        state.withLock { $0.isResolvingOver = true }
        publish()
    }

    /// Delivers the customer to every watcher if anything has changed, and again at the next instant at which a right,
    /// a grace period or a session ends.
    private func publish() {
        let now = clock().timeIntervalSinceReferenceDate
        let former = state.withLock { state in update(&state, at: now) }
        former?.cancel()
        watchers.deliver()
    }

    /// Queues the customer for the watchers, and returns a timer that is to be canceled, without the lock.
    private func update(_ state: inout State, at now: Double) -> Task<Void, Never>? {
        guard !state.isClosed else { return nil }
        state.observe(now)
        let customer = state.customer
        if customer != state.published {
            state.published = customer
            watchers.send(customer)
        }
        return scheduleTimer(&state)
    }

    /// Returns the former timer if there is another one now.
    private func scheduleTimer(_ state: inout State) -> Task<Void, Never>? {
        let next = state.nextChange
        guard next != state.timer?.at else { return nil }
        let former = state.timer?.task
        state.timer = next.map { next in
            let waitUntil = waitUntil
            return (
                next,
                Task { [weak self] in
                    guard (try? await waitUntil(Date(timeIntervalSinceReferenceDate: next))) != nil else { return }
                    self?.timerFired(next)
                }
            )
        }
        return former
    }

    private func timerFired(_ time: Double) {
        state.withLock { state in
            if state.timer?.at == time { state.timer = nil }
        }
        publish()
    }

    /// Returns the customer now and at every change, until the listener stops.
    func watch() -> AsyncStream<Tenure.Customer> {
        // Watchers are notified too, if time has changed the customer.
        publish()
        return state.withLock { state in watchers.add(first: state.customer, bufferSize: 1) }
    }

    /// Ends every stream.
    func close() {
        let timer = state.withLock { state in
            state.isClosed = true
            watchers.close()
            defer { state.timer = nil }
            return state.timer?.task
        }
        timer?.cancel()
        watchers.deliver()
    }

    // MARK: Trial sessions

    func beginSession(of entitlement: String, _ id: UUID, until end: Date) {
        state.withLock { $0.sessions[entitlement, default: [:]][id] = end.timeIntervalSinceReferenceDate }
        publish()
    }

    func endSession(of entitlement: String, _ id: UUID) {
        state.withLock { state in
            state.sessions[entitlement]?[id] = nil
            if state.sessions[entitlement]?.isEmpty == true { state.sessions[entitlement] = nil }
        }
        publish()
    }
}

extension CustomerState.State {
    mutating func observe(_ clock: Double) {
        if clock > floor { floor = clock }
    }

    var isResolving: Bool { !isResolvingOver && !snapshot.isSearched }

    /// Whether names without an answer are misspelled.
    var knowsAllNames: Bool { snapshot.knowsAllNames && !snapshot.customer.answers.isEmpty }

    func hasSession(of entitlement: String) -> Bool {
        guard !sessions.isEmpty else { return false }
        return sessions[entitlement]?.values.contains { floor < $0 } == true
    }

    /// Whether the grace period covers an entitlement that isn't granted.
    func hasGrace(_ entitlement: String) -> Bool {
        guard !snapshot.hasNoGrace, !over.contains(entitlement), !snapshot.denials.contains(entitlement) else {
            return false
        }
        if let end = ends[entitlement], end <= floor { return false }
        if let answer = snapshot.customer.answers[entitlement] ?? snapshot.productAnswers[entitlement] {
            guard answer.outcome == .undetermined, !answer.isUnknownName else { return false }
        } else if knowsAllNames {
            return false
        }
        return isGraceRunning
    }

    private var isGraceRunning: Bool {
        snapshot.graceEnds.map { floor < $0.timeIntervalSinceReferenceDate } ?? false
    }

    func allows(_ entitlement: String) -> Bool {
        if let end = ends[entitlement], floor < end { return true }
        return snapshot.allowsEverything || hasSession(of: entitlement) || hasGrace(entitlement)
    }

    /// The customer at the latest instant observed.
    var customer: Tenure.Customer {
        var access = Tenure.Customer.Access()
        access.isAllowedByDefault =
            snapshot.allowsEverything
            || !snapshot.hasNoGrace && isGraceRunning && !knowsAllNames
        let names = Set(snapshot.customer.answers.keys).union(sessions.keys).union(over).union(snapshot.denials)
        access.exceptions = names.filter { allows($0) != access.isAllowedByDefault }
        return snapshot.customer.with(access: access, isResolving: isResolving)
    }

    /// The next instant at which time alone changes an answer.
    var nextChange: Double? {
        var instants = ends.values.filter { $0.isFinite }
        instants += sessions.values.flatMap(\.values)
        if let grace = snapshot.graceEnds { instants.append(grace.timeIntervalSinceReferenceDate) }
        return instants.filter { $0 > floor }.min()
    }
}

extension CustomerState.Snapshot {
    fileprivate var ends: [String: Double] {
        var ends: [String: Double] = [:]
        for answers in [customer.answers, productAnswers] {
            for answer in answers.values where answer.outcome == .granted {
                ends[answer.entitlement] = answer.until?.timeIntervalSinceReferenceDate ?? .infinity
            }
        }
        return ends
    }
}

extension Tenure.Answer {
    fileprivate var isUnknownName: Bool { reasons.first?.code == DeviceReason.unknownEntitlement.rawValue }
}
