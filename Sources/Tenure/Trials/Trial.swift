public import Foundation
import TenureAPI
import TenureCore
import TenureJSON

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

/// Counts the use of trials on the device.
///
/// Over time, the trials of one account are stored under several names of the account. The name is `unknown` while the
/// account is unknown. Later it is the date of the app's purchase, and then the `appTransactionID`, which only newer
/// systems provide. Sessions that were used under any of these names are used up.
extension StoredState {
    /// The names of the current account, the most reliable first. Trials may be stored under any of them.
    ///
    /// The last name is `unknown`. Sessions that were used before the account was known are used up for every account
    /// on this device. Otherwise a customer could sign out to start another trial.
    private var accountNames: [String] {
        let keys = [account.key].compactMap(\.self) + account.proofs.map(AcquisitionKey.init(of:))
        let ids = keys.compactMap(\.appTransactionID)
        let dates = keys.compactMap { $0.originalPurchaseDate?.rfc3339 }
        return ids + dates + [Self.unknown]
    }

    private static let unknown = "unknown"

    /// Returns the number of sessions that the account has begun, including a running session.
    func trialSessions(of entitlement: String) -> Int {
        accountNames.compactMap { trials[$0]?[entitlement]?.sessions }.max() ?? 0
    }

    /// Returns the seconds since a trial of days began. Nil if it hasn't begun.
    func trialElapsed(_ entitlement: String, at clock: Date) -> TimeInterval? {
        accountNames.compactMap { time.elapsed(since: Self.beginningKey(of: entitlement, forAccount: $0), clock) }.max()
    }

    /// Returns the number of sessions left. For a trial of days, returns 1 until the trial is over.
    func sessionsLeft(of trial: TenureCore.Trial, named entitlement: String, at clock: Date) -> Int {
        switch trial {
        case .sessions(let count): max(0, count - trialSessions(of: entitlement))
        case .days(let count): (trialElapsed(entitlement, at: clock) ?? 0) < Double(count) * 86_400 ? 1 : 0
        }
    }

    /// Counts a session, or begins a trial of days that hasn't begun.
    ///
    /// - Returns: the time when the session, or the trial of days, is over. For a trial of sessions, also how many
    ///   sessions it has, and how many are left after this session.
    mutating func beginTrial(
        _ trial: TenureCore.Trial, of entitlement: String, at clock: Date
    ) throws(Tenure.Error) -> (ends: Date, sessions: Int?, sessionsLeft: Int?) {
        guard sessionsLeft(of: trial, named: entitlement, at: clock) > 0 else {
            throw .trialOver(entitlement: entitlement)
        }
        let now = time.now(clock)
        switch trial {
        case .sessions(let count):
            note(sessions: trialSessions(of: entitlement) + 1, of: entitlement)
            let end = now.addingTimeInterval(TenureCore.Trial.maximumSessionDuration)
            let left = sessionsLeft(of: trial, named: entitlement, at: clock)
            return (ends: end, sessions: count, sessionsLeft: left)
        case .days(let count):
            let elapsed = trialElapsed(entitlement, at: clock)
            if elapsed == nil { time.begin(Self.beginningKey(of: entitlement, forAccount: bestAccountName), at: clock) }
            let end = now.addingTimeInterval(Double(count) * 86_400 - (elapsed ?? 0))
            return (ends: end, sessions: nil, sessionsLeft: nil)
        }
    }

    /// Stores the use of trials also under the account's most reliable name, because later only that name may be known.
    mutating func copyTrialsToBestName() {
        let accountNames = accountNames
        for entitlement in Set(accountNames.flatMap { trials[$0].map { Array($0.keys) } ?? [] }) {
            note(sessions: trialSessions(of: entitlement), of: entitlement)
        }
        for (name, beginning) in time.beginnings {
            guard let known = accountNames.first(where: { name.hasPrefix($0 + "/") }) else { continue }
            let entitlement = String(name.dropFirst(known.count + 1))
            time.begin(Self.beginningKey(of: entitlement, forAccount: bestAccountName), at: beginning)
        }
    }

    /// The most reliable name of the current account.
    private var bestAccountName: String { accountNames.first ?? Self.unknown }

    /// Stores the number of sessions under the most reliable name.
    private mutating func note(sessions: Int, of entitlement: String) {
        trials[bestAccountName, default: [:]][entitlement, default: TrialUse()].sessions = sessions
    }

    /// Returns the key in `DeviceTime.beginnings` of a trial of days that began under this name of an account.
    private static func beginningKey(of entitlement: String, forAccount accountName: String) -> String {
        "\(accountName)/\(entitlement)"
    }
}

/// The use of one trial on this device.
struct TrialUse: Sendable, Hashable, Codable {
    /// The number of sessions that have begun.
    var sessions = 0
}
