import Foundation
import TenureAPI
import TenureCore
import TenureStore

extension Trial {
    /// Whether the trial allows one more session after the sessions in `use`. In a trial of days, only the first
    /// session is counted.
    func admits(after use: TrialUse, at now: Date) -> Bool {
        switch self {
        case .sessions(let count): use.sessions < count
        case .days: use.since == nil
        }
    }
}

extension TrialResponse {
    /// Creates the response about a customer's progress in the trial of an entitlement, with the requested session.
    ///
    /// - Parameters:
    ///   - use: The customer's sessions before this request.
    ///   - isCounted: Whether the requested session begins now.
    init(_ entitlement: String, _ trial: Trial, _ use: TrialUse, isCounted: Bool, at now: Date) {
        switch trial {
        case .sessions(let count):
            let began = isCounted ? now : use.sessionBegan
            self.init(
                entitlement: entitlement, sessions: count,
                sessionsLeft: max(0, count - use.sessions - (isCounted ? 1 : 0)),
                // Nil if the requested session hasn't begun, because no session is left.
                ends: began?.addingTimeInterval(Trial.maximumSessionDuration))
        case .days(let count):
            self.init(
                entitlement: entitlement, ends: (use.since ?? now).addingTimeInterval(Double(count) * 86_400))
        }
    }
}
