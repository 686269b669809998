import Foundation
import TenureCore
import TenureHTTP

/// What is known now. Every question reads it, and only the engine writes it.
///
/// One lock around a few values: a question whose answer is known costs one look into a dictionary, and allocates nothing.
final class Board: Sendable {
    /// What the engine puts up.
    struct Notice: Sendable {
        var customer: Tenure.Customer
        /// The latest instant that this device has been at.
        var floor: Date
        /// How often something newly signed has shown that the clock had been wrong.
        var heals = 0
        /// Until when a question of which nothing is known gets a yes; nil: it never does.
        var patienceEnds: Date?
        /// Entitlements that were denied when the answer was last known.
        var denials: Set<String> = []
        /// Every question gets a yes: listening, or a copy from elsewhere.
        var allowsEverything = false
        /// Nothing is allowed that is not granted.
        var hasNoPatience = false
    }

    enum Verdict: Sendable {
        case yes, no
        /// Something that may still answer is being asked, or must be asked again.
        case search
    }

    private struct State {
        var notice: Notice
        /// When each granted right ends, in seconds of the reference date; infinity: for good.
        var ends: [String: Double]
        var floor: Double
        /// Rights whose end somebody has seen: they get no patience, whatever a clock that was turned back leaves open.
        var over: Set<String> = []
        /// Running sessions of trials: when each ends.
        var sessions: [String: [UUID: Double]] = [:]
        var watchers: [UUID: AsyncStream<Tenure.Customer>.Continuation] = [:]

        func isSettled(_ entitlement: String) -> Bool {
            !over.contains(entitlement) && notice.settled(entitlement, now: floor)
        }
    }

    private let state: Locked<State>

    init(_ notice: Notice) {
        state = Locked(
            State(
                notice: notice, ends: notice.customer.ends, floor: notice.floor.timeIntervalSinceReferenceDate))
    }

    /// The latest instant at which anybody asked.
    var latest: Date { state.withLock { Date(timeIntervalSinceReferenceDate: $0.floor) } }

    var customer: Tenure.Customer { state.withLock { $0.notice.customer } }

    /// May the customer use it?
    func verdict(on entitlement: String, at clock: Date) -> Verdict {
        let clock = clock.timeIntervalSinceReferenceDate
        return state.withLock { state in
            if clock > state.floor { state.floor = clock }
            let now = state.floor
            if let end = state.ends[entitlement] {
                if now < end { return .yes }
                state.over.insert(entitlement)
                return .search
            }
            if state.notice.allowsEverything { return .yes }
            if !state.sessions.isEmpty, state.sessions[entitlement]?.values.contains(where: { now < $0 }) == true {
                return .yes
            }
            guard state.notice.customer.isComplete else { return .search }
            return state.isSettled(entitlement) ? .yes : .no
        }
    }

    /// The same where nothing more can be waited for.
    func lastVerdict(on entitlement: String, at clock: Date) -> Bool {
        switch verdict(on: entitlement, at: clock) {
        case .yes: true
        case .no: false
        case .search:
            state.withLock { $0.isSettled(entitlement) }
        }
    }

    func post(_ notice: Notice) {
        let ends = notice.customer.ends
        state.withLock { state in
            let isNews = notice.customer != state.notice.customer
            let floor = notice.floor.timeIntervalSinceReferenceDate
            // Only what was newly signed turns it back; whoever asked meanwhile has seen a clock, too.
            let isHealed = notice.heals > state.notice.heals
            state.floor = isHealed ? floor : max(state.floor, floor)
            for name in state.over where isHealed || (ends[name] ?? 0) > state.floor { state.over.remove(name) }
            state.notice = notice
            state.ends = ends
            guard isNews else { return }
            // Inside, so that nobody gets an older one after a newer one. It wakes others, and runs nothing of theirs.
            for watcher in state.watchers.values { watcher.yield(notice.customer) }
        }
    }

    /// What is known now, and everything new, until nobody listens.
    func watch() -> AsyncStream<Tenure.Customer> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Tenure.Customer.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.watchers[id] = nil }
        }
        state.withLock { state in
            state.watchers[id] = continuation
            continuation.yield(state.notice.customer)
        }
        return stream
    }

    /// Ends every watching.
    func close() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    // MARK: Sessions of trials

    func beginSession(of entitlement: String, _ id: UUID, until end: Date) {
        state.withLock { $0.sessions[entitlement, default: [:]][id] = end.timeIntervalSinceReferenceDate }
    }

    func endSession(of entitlement: String, _ id: UUID) {
        state.withLock { state in
            state.sessions[entitlement]?[id] = nil
            if state.sessions[entitlement]?.isEmpty == true { state.sessions[entitlement] = nil }
        }
    }
}

extension Board.Notice {
    /// What an entitlement that is not granted gets.
    fileprivate func settled(_ entitlement: String, now: Double) -> Bool {
        guard !hasNoPatience, !denials.contains(entitlement) else { return false }
        if let answer = customer.answers[entitlement] {
            guard answer.outcome == .undetermined, !answer.isUnknownName else { return false }
        } else if customer.isComplete, !customer.answers.isEmpty {
            return false
        }
        return patienceEnds.map { now < $0.timeIntervalSinceReferenceDate } ?? false
    }
}

extension Tenure.Customer {
    fileprivate var ends: [String: Double] {
        var ends: [String: Double] = [:]
        for answer in answers.values where answer.outcome == .granted {
            ends[answer.entitlement] = answer.until?.timeIntervalSinceReferenceDate ?? .infinity
        }
        return ends
    }
}

extension Tenure.Answer {
    fileprivate var isUnknownName: Bool { reasons.first?.code == DeviceReason.unknownEntitlement.rawValue }
}
