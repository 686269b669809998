import Foundation
import TenureAPI
import TenureCore
import TenureStore

extension Trial {
    /// Whether one more session is counted. In a trial of days, only the first one counts.
    func admits(after use: TrialUse, at now: Date) -> Bool {
        switch self {
        case .sessions(let count): use.sessions < count
        case .days: use.since == nil
        }
    }
}

/// A customer's progress in a trial, with the requested session.
struct TrialState {
    let sessions: Int?
    let sessionsLeft: Int?
    let ends: Date?
    /// Whether the requested session is running.
    let isOpen: Bool

    init(_ trial: Trial, _ use: TrialUse, isCounted: Bool, at now: Date) {
        switch trial {
        case .sessions(let count):
            let began = isCounted ? now : use.sessionBegan
            sessions = count
            sessionsLeft = max(0, count - use.sessions - (isCounted ? 1 : 0))
            ends = began?.addingTimeInterval(Trial.maximumSessionDuration)
        case .days(let count):
            sessions = nil
            sessionsLeft = nil
            ends = (use.since ?? now).addingTimeInterval(Double(count) * 86_400)
        }
        isOpen = ends.map { now < $0 } ?? false
    }

    func response(named entitlement: String) -> TrialResponse {
        TrialResponse(entitlement: entitlement, sessions: sessions, sessionsLeft: sessionsLeft, ends: ends)
    }
}
