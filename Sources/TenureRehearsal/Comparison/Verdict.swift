import Foundation
import TenureCore

/// What becomes of one customer's right to one entitlement.
package struct Verdict: Sendable, Hashable {
    package let entitlement: String
    package let now: Answer
    /// Under the old policy; nil where nothing is compared.
    package let before: Answer?

    package init(entitlement: String, now: Answer, before: Answer?) {
        self.entitlement = entitlement
        self.now = now
        self.before = before
    }

    /// Nil where nothing is compared.
    package var change: Change? { before.map { Change(from: $0, to: now) } }
}

/// How an answer differs from the one before it. What is certain counts: a right that becomes a doubt is lost.
package enum Change: String, Sendable, Hashable, CaseIterable {
    /// Granted and was not, or granted for longer.
    case gains
    /// Was granted and is not, or not for as long.
    case loses
    /// Neither: a denial instead of a doubt, or the other way round.
    case changesOutcome
    /// The same outcome for another reason.
    case changesReason
    case same

    package init(from before: Answer, to now: Answer) {
        switch (before.outcome == .granted, now.outcome == .granted) {
        case (false, true): self = .gains
        case (true, false): self = .loses
        case (true, true) where before.until != now.until:
            self = (now.until ?? .distantFuture) > (before.until ?? .distantFuture) ? .gains : .loses
        default: self = before.outcome != now.outcome ? .changesOutcome : before == now ? .same : .changesReason
        }
    }

    /// Whether the outcome differs, or how long a right lasts.
    package var isOfOutcome: Bool {
        switch self {
        case .gains, .loses, .changesOutcome: true
        case .changesReason, .same: false
        }
    }
}
