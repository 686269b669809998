import Foundation
import TenureCore

/// The dates with which the policies of a rehearsal compare the purchase date of the app.
///
/// The policies treat all purchase dates between two of these dates alike. So a rehearsal (a dry run of a policy)
/// decides only once for customers who differ in nothing else. Each date is computed as in the decision rules, with
/// their tolerance of two seconds. A purchase exactly on one of the dates is a separate class, because some periods
/// include their end and others don't.
struct CriticalInstants: Sendable {
    /// The dates in ascending order.
    private let instants: [Date]

    /// Collects the dates of these policies: both policies of the comparison, and the earlier policies to which
    /// promises (recorded rights of customers) refer.
    init(of policies: some Sequence<Policy>) {
        // Rule A9 of Docs/decision-rules.md: a purchase before the platform's store opened contradicts the platform.
        var instants = Set(Platform.allCases.compactMap { $0.storeOpening?.addingTimeInterval(-Tolerance.seconds) })
        for policy in policies {
            for era in policy.eras {
                for date in era.begins.values.compactMap(\.date) {
                    // Rules B: the date proves an era.
                    instants.insert(date.addingTimeInterval(-Tolerance.seconds))
                    instants.insert(date.addingTimeInterval(Tolerance.seconds))
                    // Rules C: the changeover window, the time around the change in which price and build may disagree.
                    guard let window = era.changeover?.window else { continue }
                    instants.insert(date.addingTimeInterval(window.from - Tolerance.seconds))
                    instants.insert(date.addingTimeInterval(window.until + Tolerance.seconds))
                }
            }
            // Rules D: the purchase dates that an honor (an entry under `honors`) allows.
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

    /// Returns the number of a date's class. Dates have the same number if the policies treat them alike, and reports
    /// count them in the same month. `PlainFacts.writeKey` uses the number instead of the date.
    func dateClass(of date: Date?) -> UInt64 {
        guard let date else { return .max }
        return UInt64(position(of: date)) << 32 | UInt64(UInt32(bitPattern: Month(of: date).index))
    }
}
