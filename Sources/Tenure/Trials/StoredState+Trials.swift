import Foundation
import TenureCore
import TenureJSON

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
