public import Foundation
import TenureAPI
import TenureCore

extension Tenure {
    /// Returns the trial of one entitlement, with which customers can try the entitlement before they buy it.
    public func trial(_ entitlement: String) -> Trial { Trial(entitlement: entitlement, tenure: self) }

    /// The trial of one entitlement. Get it with `Tenure.trial(_:)`. The policy gives a trial a number of sessions or a
    /// number of days.
    public struct Trial: Sendable {
        /// The name of the entitlement in the policy.
        public let entitlement: String
        let tenure: Tenure

        /// Whether to offer the trial. False if the customer has the entitlement, or if the decision is undetermined.
        /// Without a service, also false if the policy has no trial, or if the trial is used up. With a service, only
        /// `begin()` finds that out.
        public var isOffered: Bool {
            get async {
                guard await tenure.decision(for: entitlement).outcome == .denied else { return false }
                return await tenure.engine.offersTrial(of: entitlement)
            }
        }

        /// Begins a session, during which `allows(_:)` returns true. It ends when the app releases the returned object
        /// or calls `end()`. In a trial of sessions, it also ends after a day. In a trial of days, it also ends when
        /// the trial is over.
        ///
        /// - Throws: `trialOver` if no session is left; `noTrial` if the policy has no trial; `service` or `notStored`
        ///   if the session couldn't be counted. Then no session begins.
        public func begin() async throws(Tenure.Error) -> Tenure.TrialSession {
            let tenure = tenure
            let isAllowed = await tenure.allows(entitlement)
            let outcome = await tenure.decision(for: entitlement).outcome
            // A customer who has the entitlement, or may have it, uses no session.
            if isAllowed, outcome != .denied {
                return Tenure.TrialSession(entitlement, isOwner: outcome == .granted, state: tenure.state)
            }
            return try await tenure.engine.beginTrial(of: entitlement)
        }
    }

    /// A session of a trial. It ends at `ends`, or before that when the app calls `end()` or releases the last
    /// reference to it.
    public final class TrialSession: Sendable {
        /// The name of the entitlement, for which `allows` returns true during the session.
        public let entitlement: String
        /// Whether the customer has the entitlement. If so, don't show this session as a trial.
        public let isOwner: Bool
        /// The number of sessions of the trial. Nil for a trial of days, and if no trial session was needed (see
        /// `ends`).
        public let sessions: Int?
        /// The number of sessions left after this session. Nil for a trial of days, and if no trial session was needed
        /// (see `ends`).
        public let sessionsLeft: Int?
        /// The time when this session no longer makes `allows` return true: a day after its start, or at the end of a
        /// trial of days. Nil if no trial session was needed: if the customer has the entitlement, or if an
        /// undetermined decision allows it.
        public let ends: Date?

        private let id = UUID()
        private let state: CustomerState

        init(
            _ entitlement: String, isOwner: Bool = false, sessions: Int? = nil, sessionsLeft: Int? = nil,
            ends: Date? = nil, state: CustomerState
        ) {
            self.entitlement = entitlement
            self.isOwner = isOwner
            self.sessions = sessions
            self.sessionsLeft = sessionsLeft
            self.ends = ends
            self.state = state
            if let ends { state.beginSession(of: entitlement, id, until: ends) }
        }

        deinit { end() }

        /// Ends the session before `ends`. A used session isn't given back. A second call does nothing.
        public func end() { state.endSession(of: entitlement, id) }
    }
}

/// Begins trial sessions.
extension Engine {
    /// Whether the customer may still begin a session of the entitlement's trial. With a service, always true: only
    /// beginning a session shows whether a session is left.
    func offersTrial(of entitlement: String) -> Bool {
        load()
        guard setup.service == nil else { return true }
        guard let trial = device.facts.policy?.entitlement(named: entitlement)?.trial else { return false }
        // Read the state again: another process may have used a session meanwhile.
        device.rereadState()
        device.observeClock()
        return device.stored.sessionsLeft(of: trial, named: entitlement, at: setup.clock()) > 0
    }

    /// Begins a trial session. If there is a service, the service counts the session; otherwise this device does.
    func beginTrial(of entitlement: String) async throws(Tenure.Error) -> Tenure.TrialSession {
        load()
        if let service = setup.service { return try await beginTrial(of: entitlement, at: service) }
        guard let trial = device.facts.policy?.entitlement(named: entitlement)?.trial else {
            throw .noTrial(entitlement: entitlement)
        }
        return try begin(trial, of: entitlement)
    }

    // MARK: Trials that the device counts

    /// Begins a session that the device counts. Counts it while the stored state is locked, so that all processes
    /// together get no more sessions than the trial has.
    private func begin(_ trial: TenureCore.Trial, of entitlement: String) throws(Tenure.Error) -> Tenure.TrialSession {
        device.observeClock()
        let clock = setup.clock()
        do {
            let begun = try device.updateState { try $0.beginTrial(trial, of: entitlement, at: clock) }
            return Tenure.TrialSession(
                entitlement, sessions: begun.sessions, sessionsLeft: begun.sessionsLeft, ends: begun.ends,
                state: customerState)
        } catch let error as Tenure.Error {
            throw error
        } catch {
            throw .notStored("the trial session couldn't be counted: \(error)")
        }
    }

    // MARK: Trials that the service counts

    /// Begins a session at the service. Tries a failed request once more, with a new access token, unless the trial is
    /// over or doesn't exist.
    private func beginTrial(
        of entitlement: String, at service: ServiceConnection
    ) async throws(Tenure.Error) -> Tenure.TrialSession {
        // All attempts use the same session ID, so that a repeated request isn't counted twice.
        let id = UUID().uuidString.lowercased()
        var failure = ServiceFailure.noAccessToken
        for attempt in 0..<2 {
            guard let token = await validToken(isFresh: attempt > 0) else { break }
            do throws(ServiceFailure) {
                let answer = try await service.beginTrial(of: entitlement, session: id, token: token)
                return Tenure.TrialSession(
                    entitlement, isOwner: answer.isOwner, sessions: answer.sessions, sessionsLeft: answer.sessionsLeft,
                    ends: answer.isOwner ? nil : answer.ends, state: customerState)
            } catch {
                if case .refused(let problem, _) = error {
                    if problem.code == .trialOver { throw .trialOver(entitlement: entitlement) }
                    if problem.code == .notFound { throw .noTrial(entitlement: entitlement) }
                }
                failure = error
            }
        }
        throw .service("\(failure)")
    }

    /// Returns the access token for the service's API. If it has expired, or if `isFresh` is true, first asks the
    /// service for a new token. If the service sends none, returns the old token, even if it has expired; nil if there
    /// was no token.
    func validToken(isFresh: Bool) async -> String? {
        if isFresh || device.accessToken.map({ $0.expiresAt <= setup.clock() }) ?? true { await searchAgain() }
        return device.accessToken?.value
    }
}
