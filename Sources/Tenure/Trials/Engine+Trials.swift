import Foundation
import TenureAPI
import TenureCore

extension Engine {
    func offersTrial(of entitlement: String) -> Bool {
        // The service knows how much is left when a session begins.
        guard setup.service == nil else { return true }
        guard let trial = policy?.entitlement(named: entitlement)?.trial else { return false }
        look()
        return left(of: trial, named: entitlement) > 0
    }

    func beginTrial(of entitlement: String) async throws(TenureError) -> TrialSession {
        if let service = setup.service { return try await beginTrial(of: entitlement, at: service) }
        guard let trial = policy?.entitlement(named: entitlement)?.trial else {
            throw .noTrial(entitlement: entitlement)
        }
        return try begin(trial, of: entitlement)
    }

    // MARK: Counted here

    /// Sessions, or 1 while a trial of days runs or has not begun.
    private func left(of trial: TenureCore.Trial, named entitlement: String) -> Int {
        switch trial {
        case .sessions(let count): return max(0, count - memory.trialSessions(of: entitlement))
        case .days(let count):
            let elapsed = memory.trialElapsed(entitlement, at: setup.clock()) ?? 0
            return elapsed < Double(count) * 86_400 ? 1 : 0
        }
    }

    private func begin(_ trial: TenureCore.Trial, of entitlement: String) throws(TenureError) -> TrialSession {
        look()
        guard left(of: trial, named: entitlement) > 0 else { throw .trialOver(entitlement: entitlement) }
        let before = memory
        let clock = setup.clock()
        let now = memory.time.now(clock)
        let ends: Date
        switch trial {
        case .sessions:
            memory.countTrialSession(of: entitlement)
            ends = now.addingTimeInterval(TenureCore.Trial.longestSession)
        case .days(let count):
            let elapsed = memory.trialElapsed(entitlement, at: clock)
            if elapsed == nil { memory.beginTrialOfDays(entitlement, at: clock) }
            ends = now.addingTimeInterval(Double(count) * 86_400 - (elapsed ?? 0))
        }
        guard save() else {
            memory = before
            throw .notStored("the session could not be counted")
        }
        switch trial {
        case .sessions(let count):
            return TrialSession(
                entitlement, sessions: count, sessionsLeft: left(of: trial, named: entitlement), ends: ends,
                state: state)
        case .days: return TrialSession(entitlement, ends: ends, state: state)
        }
    }

    // MARK: Counted by the service

    private func beginTrial(
        of entitlement: String, at service: ServiceConnection
    ) async throws(TenureError) -> TrialSession {
        // One id for all tries: a lost answer costs nothing.
        let id = UUID().uuidString.lowercased()
        var failure = "it gave no access token"
        for attempt in 0..<2 {
            guard let token = await validToken(isFresh: attempt > 0) else { break }
            do throws(ServiceFailure) {
                let answer = try await service.beginTrial(of: entitlement, session: id, token: token)
                return TrialSession(
                    entitlement, isOwner: answer.isOwner, sessions: answer.sessions, sessionsLeft: answer.sessionsLeft,
                    ends: answer.isOwner ? nil : answer.ends, state: state)
            } catch {
                if case .refused(let problem, _) = error {
                    switch problem.code {
                    case .trialOver: throw .trialOver(entitlement: entitlement)
                    case .notFound: throw .noTrial(entitlement: entitlement)
                    default: break
                    }
                }
                failure = "\(error)"
            }
        }
        throw .service(failure)
    }

    private func validToken(isFresh: Bool) async -> String? {
        if isFresh || token.map({ $0.expiresAt <= setup.clock() }) ?? true {
            await searchAgain()
        }
        return token?.value
    }
}
