import Foundation
import TenureCore

/// The current answers to the app's questions. Callers read the answers, and only the engine writes them.
///
/// One lock guards the answers and the values that are derived from them. So `allows(_:)` with a known answer costs one
/// dictionary lookup, and allocates nothing.
final class CustomerState: Sendable {
    /// The engine's results. The engine gets them in *searches*, in which it asks the App Store, and the service if
    /// there is one.
    struct Snapshot: Sendable {
        var customer: Tenure.Customer
        /// The answers for products that unlock asset packs directly: see `Evaluation.productAnswers`.
        var productAnswers: [String: Tenure.Answer] = [:]
        /// The latest time that this device has observed. Rights end according to this time, even if the clock is set
        /// back.
        var floor: Date
        /// How many times the known time was set back: see `Facts.clockCorrections`.
        var clockCorrections = 0
        /// How many searches have finished since the app started.
        var finishedSearches = 0
        /// When the last search ended, by the device's clock. Nil until the first search has ended.
        var checkedAt: Date?
        /// How many times another Apple Account was found to be signed in.
        var accountChanges = 0
        /// Whether the names of all entitlements are known, so that a name without an answer is misspelled.
        var knowsAllNames = false
        /// The end of the grace period, in which undetermined entitlements are allowed. Nil if there is no grace
        /// period.
        var graceEnds: Date?
        /// Entitlements that were denied when all sources were last read completely. They get no grace period.
        var denials: Set<String> = []
        /// Whether every entitlement is allowed: in a copy from outside the App Store if the options allow that, or in
        /// a client that collects evidence for the dry run of a new policy (`Tenure.listening`).
        var allowsEverything = false
        /// Whether there is no grace period, because the options deny everything in this copy of the app.
        var hasNoGrace = false
    }

    /// Whether an entitlement is allowed, as far as is known without waiting.
    enum Access: Sendable {
        /// The entitlement is allowed.
        case yes
        /// A known denial, checked less than a minute ago.
        case no
        /// A known denial that should be checked again.
        case stale
        /// The right has ended, and no search that began afterward has finished. A subscription may have been renewed.
        case ended
        /// The first search is still running, or the stored state wasn't read yet.
        case resolving
    }

    /// The values that the lock protects.
    fileprivate struct State {
        var snapshot: Snapshot
        /// The time when each granted right ends, in seconds since the reference date. Infinity for a permanent right.
        var ends: [String: Double] = [:]
        /// The latest time observed, in seconds since the reference date.
        var floor: Double
        /// Rights that have ended. `end` is in seconds since the reference date, and `begunSearches` is the number of
        /// searches that had begun when the end was noticed. The rights get no grace period, even if the clock is
        /// turned back afterward.
        var endedRights: [String: (end: Double, begunSearches: Int)] = [:]
        /// How many searches have begun since the app started.
        var begunSearches = 0
        /// The end of each running trial session in seconds since the reference date, by entitlement and session ID.
        var sessions: [String: [UUID: Double]] = [:]
        /// Whether callers have stopped waiting for the first search, because it takes longer than a timeout.
        var hasStoppedWaiting = false
        /// The customer that watchers received last.
        var published: Tenure.Customer?
        /// The time when an answer changes next, with the task that waits until then.
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
            State(snapshot: snapshot, ends: snapshot.ends, floor: snapshot.floor.timeIntervalSinceReferenceDate))
    }

    /// The latest time that was observed.
    var latest: Date { state.withLock { Date(timeIntervalSinceReferenceDate: $0.floor) } }

    /// The customer now.
    var customer: Tenure.Customer { withCurrentState { state, _ in state.customer } }

    /// Observes the clock, and calls `body` with the state and the clock's time in seconds since the reference date.
    private func withCurrentState<Result: Sendable>(_ body: (inout State, _ clock: Double) -> Result) -> Result {
        let clock = clock().timeIntervalSinceReferenceDate
        return state.withLock { state in
            if clock > state.floor { state.floor = clock }
            return body(&state, clock)
        }
    }

    // MARK: Questions

    /// Returns what is known about an entitlement now. Unlike `allows`, it also tells whether to wait for more.
    func access(to entitlement: String) -> Access {
        withCurrentState { state, clock in
            let end = state.ends[entitlement]
            if let end {
                if state.floor < end { return .yes }
                state.noteEnd(end, of: entitlement)
            }
            if state.snapshot.allowsEverything || state.hasSession(of: entitlement) { return .yes }
            if end != nil { return state.isResolving ? .resolving : .ended }
            guard !state.isResolving else { return .resolving }
            if state.hasGrace(entitlement) { return .yes }
            // A search publishes answers after each source, and may have read the purchases before the end. So a denial
            // may be premature until a search that began after the end has finished.
            if let ended = state.endedRights[entitlement], state.snapshot.finishedSearches <= ended.begunSearches {
                return .ended
            }
            guard let checked = state.snapshot.checkedAt?.timeIntervalSinceReferenceDate,
                abs(clock - checked) < Self.denialLifetime
            else { return .stale }
            return .no
        }
    }

    /// Returns whether the entitlement is allowed, without waiting.
    func allows(_ entitlement: String) -> Bool { withCurrentState { state, _ in state.allows(entitlement) } }

    /// Returns whether there is no entitlement with this name.
    func isUnknown(_ entitlement: String) -> Bool {
        state.withLock { $0.knowsAllNames && $0.snapshot.customer.answers[entitlement] == nil }
    }

    /// The time when the next right, trial session or grace period ends. Nil if none of them ends.
    var nextEnd: Date? {
        withCurrentState { state, _ in state.nextChange.map { Date(timeIntervalSinceReferenceDate: $0) } }
    }

    // MARK: Changes

    /// Counts a search that begins.
    func beginSearch() { state.withLock { $0.begunSearches += 1 } }

    /// Replaces the results, and publishes the customer if it has changed.
    func post(_ snapshot: Snapshot) {
        let ends = snapshot.ends
        state.withLock { state in
            let floor = snapshot.floor.timeIntervalSinceReferenceDate
            // Set the time back only if the clock turned out to be wrong. Otherwise keep the later time: a caller may
            // have observed a later clock meanwhile.
            let isClockCorrected = snapshot.clockCorrections > state.snapshot.clockCorrections
            state.floor = isClockCorrected ? floor : max(state.floor, floor)
            state.noteEnds()
            if snapshot.accountChanges != state.snapshot.accountChanges { state.endedRights = [:] }
            for (name, ended) in state.endedRights {
                // Forget the end if the right is granted again, or if the right may not have ended by the corrected
                // time.
                let isUnproven = isClockCorrected && ended.end > state.floor
                if isUnproven || (ends[name] ?? 0) > state.floor { state.endedRights[name] = nil }
            }
            state.snapshot = snapshot
            state.ends = ends
        }
        publish()
    }

    /// Lets callers stop waiting for the first search, which continues.
    func endResolving() {
        state.withLock { $0.hasStoppedWaiting = true }
        publish()
    }

    /// Delivers the customer to every watcher if it has changed. Does so again when the next right, grace period or
    /// session ends.
    private func publish() {
        // Cancel the timer after releasing the lock.
        let former = withCurrentState { state, _ -> Task<Void, Never>? in
            guard !state.isClosed else { return nil }
            state.noteEnds()
            let customer = state.customer
            if customer != state.published {
                state.published = customer
                watchers.send(customer)
            }
            return scheduleTimer(&state)
        }
        former?.cancel()
        watchers.deliver()
    }

    /// Starts a timer for the next change that only time causes. Returns the previous timer if the new timer replaces
    /// it.
    private func scheduleTimer(_ state: inout State) -> Task<Void, Never>? {
        let next = state.nextChange
        guard next != state.timer?.at else { return nil }
        let former = state.timer?.task
        state.timer = nil
        guard let next else { return former }
        let waitUntil = waitUntil
        let task = Task { [weak self] in
            guard (try? await waitUntil(Date(timeIntervalSinceReferenceDate: next))) != nil else { return }
            self?.timerFired(next)
        }
        state.timer = (next, task)
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
        // If the customer has changed because time has passed, notify the other watchers, too.
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

    /// Allows an entitlement during a trial session.
    func beginSession(of entitlement: String, _ id: UUID, until end: Date) {
        state.withLock { $0.sessions[entitlement, default: [:]][id] = end.timeIntervalSinceReferenceDate }
        publish()
    }

    /// Ends a trial session. Does nothing if it has ended already.
    func endSession(of entitlement: String, _ id: UUID) {
        state.withLock { state in
            state.sessions[entitlement]?[id] = nil
            if state.sessions[entitlement]?.isEmpty == true { state.sessions[entitlement] = nil }
        }
        publish()
    }
}

extension CustomerState.State {
    /// Records that a right has ended, unless that is recorded already.
    mutating func noteEnd(_ end: Double, of right: String) {
        if endedRights[right] == nil { endedRights[right] = (end, begunSearches) }
    }

    /// Records every right that has ended.
    mutating func noteEnds() {
        for (name, end) in ends where end <= floor { noteEnd(end, of: name) }
    }

    /// Whether callers still wait for the first search.
    var isResolving: Bool { !hasStoppedWaiting && snapshot.finishedSearches == 0 }

    /// Whether a name without an answer is misspelled, because the names of all entitlements are known.
    var knowsAllNames: Bool { snapshot.knowsAllNames && !snapshot.customer.answers.isEmpty }

    /// Whether a trial session of the entitlement is running.
    func hasSession(of entitlement: String) -> Bool {
        guard !sessions.isEmpty else { return false }
        return sessions[entitlement]?.values.contains { floor < $0 } == true
    }

    /// Whether the grace period covers an entitlement that isn't granted.
    func hasGrace(_ entitlement: String) -> Bool {
        guard !snapshot.hasNoGrace, endedRights[entitlement] == nil, !snapshot.denials.contains(entitlement),
            ends[entitlement].map({ $0 > floor }) ?? true
        else { return false }
        if let answer = snapshot.customer.answers[entitlement] ?? snapshot.productAnswers[entitlement] {
            guard answer.outcome == .undetermined, !answer.isUnknownName else { return false }
        } else if knowsAllNames {
            return false
        }
        return isGraceRunning
    }

    /// Whether the grace period hasn't ended yet.
    private var isGraceRunning: Bool { snapshot.graceEnds.map { floor < $0.timeIntervalSinceReferenceDate } ?? false }

    func allows(_ entitlement: String) -> Bool {
        if let end = ends[entitlement], floor < end { return true }
        return snapshot.allowsEverything || hasSession(of: entitlement) || hasGrace(entitlement)
    }

    /// The customer at the latest instant observed.
    var customer: Tenure.Customer {
        var access = Tenure.Customer.Access()
        // While the names of all entitlements aren't known, the grace period covers every name.
        access.isAllowedByDefault =
            snapshot.allowsEverything || (!snapshot.hasNoGrace && isGraceRunning && !knowsAllNames)
        let names = Set(snapshot.customer.answers.keys).union(sessions.keys).union(endedRights.keys)
            .union(snapshot.denials)
        access.exceptions = names.filter { allows($0) != access.isAllowedByDefault }
        var customer = snapshot.customer
        (customer.access, customer.isResolving) = (access, isResolving)
        return customer
    }

    /// The time when an answer changes next because time passes.
    var nextChange: Double? {
        let graceEnds = [snapshot.graceEnds?.timeIntervalSinceReferenceDate].compactMap(\.self)
        let instants = ends.values + sessions.values.flatMap(\.values) + graceEnds
        return instants.filter { $0 > floor && $0.isFinite }.min()
    }
}

extension CustomerState.Snapshot {
    /// The time when each granted right ends: see `CustomerState.State.ends`.
    fileprivate var ends: [String: Double] {
        let granted = [customer.answers, productAnswers].flatMap(\.values).filter { $0.outcome == .granted }
        let ends = granted.map { ($0.entitlement, $0.until?.timeIntervalSinceReferenceDate ?? .infinity) }
        return Dictionary(ends) { _, last in last }
    }
}

extension Tenure.Answer {
    fileprivate var isUnknownName: Bool { reasons.first?.code == DeviceReason.unknownEntitlement.rawValue }
}
