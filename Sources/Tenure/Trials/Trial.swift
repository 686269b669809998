public import Foundation
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
