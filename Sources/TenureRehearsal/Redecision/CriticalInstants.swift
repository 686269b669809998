import Foundation
import TenureCore

/// The dates with which the policies of a rehearsal compare the purchase date of the app.
///
/// The policies treat all purchase dates between two of these dates alike. So customers who differ only in such a date
/// have the same effects. Each date is computed as in the rules, with their tolerance and rounding. A purchase exactly
/// on one of the dates is a separate class, because some periods include their end and others don't.
struct CriticalInstants: Sendable {
    /// The dates in ascending order.
    private let instants: [Date]

    /// Collects the dates of both policies, and of the policies that promises refer to.
    init(of policies: some Sequence<Policy>) {
        // Rule A9 of Docs/decision-rules.md: a purchase before the platform's store opened contradicts the platform.
        var instants = Set(
            Platform.allCases.compactMap { $0.storeOpening?.addingTimeInterval(-Tolerance.seconds) })
        for policy in policies {
            for era in policy.eras {
                for date in era.begins.values.compactMap(\.date) {
                    // Rules B: the date proves an era.
                    instants.insert(date.addingTimeInterval(-Tolerance.seconds))
                    instants.insert(date.addingTimeInterval(Tolerance.seconds))
                    // Rules C: the changeover window.
                    guard let window = era.changeover?.window else { continue }
                    instants.insert(date.addingTimeInterval(window.from - Tolerance.seconds))
                    instants.insert(date.addingTimeInterval(window.until + Tolerance.seconds))
                }
            }
            // Rules D: the purchase dates that an honor allows.
            for honor in policy.entitlements.flatMap({ $0.honors ?? [] }) {
                if let since = honor.boughtSince { instants.insert(since.addingTimeInterval(-Tolerance.seconds)) }
                if let before = honor.boughtBefore { instants.insert(before.addingTimeInterval(Tolerance.seconds)) }
            }
        }
        self.instants = instants.sorted()
    }

    /// Returns the position of a date among the critical dates: twice the number of critical dates before it, plus one
    /// if the date is a critical date itself. The policies treat dates with the same position alike.
    func position(of date: Date) -> Int {
        let index = instants.partitioningIndex { $0 >= date }
        return 2 * index + (index < instants.count && instants[index] == date ? 1 : 0)
    }

    /// Returns the class of a date for `PlainFacts.key`. The class includes the month, by which reports group
    /// customers.
    func `class`(of date: Date?) -> UInt64 {
        guard let date else { return .max }
        return UInt64(position(of: date)) << 32 | UInt64(UInt32(bitPattern: Month(of: date).index))
    }
}
