import Foundation
import TenureAPI
import TenureCore

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
