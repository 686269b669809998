import Foundation
import TenureCore
import TenureJSON

/// The use of trials, counted on the device.
///
/// One acquisition has several names in the course of time: none while the account is unknown, then the date of its
/// purchase, and the App Store's id once a newer system tells it. Whatever it is called at the moment, it has used what
/// was used under any of its names.
extension StoredState {
    /// Names of the current account, the best first. Trials may be stored under any of them.
    ///
    /// The last one is the unknown account. Sessions that were used before the account was known count for the account
    /// found later, and for everyone who signs in on this device. Otherwise signing out would start another trial.
    private var holders: [String] {
        let keys = [account.key].compactMap(\.self) + account.proofs.map(AcquisitionKey.init(of:))
        let ids = keys.compactMap(\.appTransactionID)
        let dates = keys.compactMap { $0.originalPurchaseDate?.rfc3339 }
        return ids + dates + [Self.unknown]
    }

    private static let unknown = "unknown"

    /// Sessions that were begun.
    func trialSessions(of entitlement: String) -> Int {
        holders.compactMap { trials[$0]?[entitlement]?.sessions }.max() ?? 0
    }

    /// Seconds since a trial of days began; nil where it has not.
    func trialElapsed(_ entitlement: String, at clock: Date) -> TimeInterval? {
        holders.compactMap { time.elapsed(since: Self.beginning(of: entitlement, by: $0), clock) }.max()
    }

    /// Sessions, or 1 while a trial of days runs or has not begun.
    func sessionsLeft(of trial: TenureCore.Trial, named entitlement: String, at clock: Date) -> Int {
        switch trial {
        case .sessions(let count): return max(0, count - trialSessions(of: entitlement))
        case .days(let count):
            let elapsed = trialElapsed(entitlement, at: clock) ?? 0
            return elapsed < Double(count) * 86_400 ? 1 : 0
        }
    }

    /// Counts a session, or begins a trial of days that has not begun.
    mutating func beginTrial(
        _ trial: TenureCore.Trial, of entitlement: String, at clock: Date
    ) throws(Tenure.Error) -> BegunTrial {
        guard sessionsLeft(of: trial, named: entitlement, at: clock) > 0 else {
            throw .trialOver(entitlement: entitlement)
        }
        let now = time.now(clock)
        switch trial {
        case .sessions(let count):
            note(sessions: trialSessions(of: entitlement) + 1, of: entitlement)
            return BegunTrial(
                ends: now.addingTimeInterval(TenureCore.Trial.longestSession), sessions: count,
                sessionsLeft: sessionsLeft(of: trial, named: entitlement, at: clock))
        case .days(let count):
            let elapsed = trialElapsed(entitlement, at: clock)
            if elapsed == nil { time.begin(Self.beginning(of: entitlement, by: holder), at: clock) }
            return BegunTrial(ends: now.addingTimeInterval(Double(count) * 86_400 - (elapsed ?? 0)))
        }
    }

    /// Writes under the best name what is stored under any of them: the account may come back with that one alone.
    mutating func joinTrials() {
        let holders = holders
        for entitlement in Set(holders.flatMap { trials[$0].map { Array($0.keys) } ?? [] }) {
            note(sessions: trialSessions(of: entitlement), of: entitlement)
        }
        for (name, beginning) in time.beginnings {
            guard let known = holders.first(where: { name.hasPrefix($0 + "/") }) else { continue }
            let entitlement = String(name.dropFirst(known.count + 1))
            time.begin(Self.beginning(of: entitlement, by: holder), at: beginning)
        }
    }

    private var holder: String { holders.first ?? Self.unknown }

    private mutating func note(sessions: Int, of entitlement: String) {
        trials[holder, default: [:]][entitlement, default: TrialUse()].sessions = sessions
    }

    private static func beginning(of entitlement: String, by holder: String) -> String { "\(holder)/\(entitlement)" }
}

/// A session of a trial that was counted.
struct BegunTrial: Sendable {
    let ends: Date
    var sessions: Int?
    var sessionsLeft: Int?
}
