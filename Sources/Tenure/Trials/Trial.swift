public import Foundation
import TenureCore

extension Tenure {
    /// The trial of one entitlement. Owners never see one.
    public func trial(_ entitlement: String) -> Trial {
        Trial(entitlement: entitlement, tenure: self)
    }

    public struct Trial: Sendable {
        public let entitlement: String
        let tenure: Tenure

        /// Whether there is anything to offer: not to whoever has the entitlement, or may have it.
        public var isOffered: Bool {
            get async {
                guard await tenure.decision(for: entitlement).outcome == .denied else { return false }
                return await tenure.engine.offersTrial(of: entitlement)
            }
        }

        /// Begins a session. It lasts as long as it is kept, and a day at the most; meanwhile `allows` says yes.
        ///
        /// - Throws: `trialOver` where nothing is left, `noTrial` where there is none, `service` and `notWritten` where
        ///   it could not be counted: what is not counted does not begin.
        public func begin() async throws(Tenure.Error) -> Tenure.TrialSession {
            let tenure = tenure
            let isAllowed = await tenure.allows(entitlement)
            let outcome = await tenure.decision(for: entitlement).outcome
            // Whoever has it, or may have it as far as anybody knows now, uses nothing up.
            if isAllowed, outcome != .denied {
                return Tenure.TrialSession(entitlement, isOwner: outcome == .granted, state: tenure.state)
            }
            return try await tenure.engine.beginTrial(of: entitlement)
        }
    }
}

extension Tenure {
    /// One sitting with something that is tried. It ends with its scope: with the last reference to it.
    public final class TrialSession: Sendable {
        public let entitlement: String
        /// The customer has it: this is no trial, and nothing is to be said of one.
        public let isOwner: Bool
        /// How many sessions the trial has, and how many are left after this one; nil for a trial of days, and for owners.
        public let sessions: Int?
        public let sessionsLeft: Int?
        /// When this session, or the trial of days, is over; nil for owners.
        public let ends: Date?

        private let id = UUID()
        private let state: CustomerState

        init(
            _ entitlement: String, isOwner: Bool = false, sessions: Int? = nil, sessionsLeft: Int? = nil,
            ends: Date? = nil,
            state: CustomerState
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

        /// Ends it before its scope does.
        public func end() { state.endSession(of: entitlement, id) }
    }
}
