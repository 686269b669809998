import Foundation
import TenureAPI
import TenureCore
import TenureStore

extension Trial {
    /// Whether the trial allows one more session to be counted. In a trial of days, only the first session is counted.
    func admits(after use: TrialUse, at now: Date) -> Bool {
        switch self {
        case .sessions(let count): use.sessions < count
        case .days: use.since == nil
        }
    }
}

/// A customer's progress in a trial, with the requested session.
struct TrialState {
    /// The number of sessions in the trial; nil for a trial of days.
    let sessions: Int?
    /// The number of sessions that haven't begun; nil for a trial of days.
    let sessionsLeft: Int?
    /// The end of the requested session, or of a trial of days. Nil if the session hasn't begun.
    let ends: Date?
    /// Whether the requested session is running.
    let isOpen: Bool

    /// - Parameters:
    ///   - use: The customer's sessions before this request.
    ///   - isCounted: Whether the requested session begins now.
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

    /// Returns the response about the trial of this entitlement.
    func response(named entitlement: String) -> TrialResponse {
        TrialResponse(entitlement: entitlement, sessions: sessions, sessionsLeft: sessionsLeft, ends: ends)
    }
}
