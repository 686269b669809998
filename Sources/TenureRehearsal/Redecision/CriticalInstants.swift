import Foundation
import TenureCore

/// The instants with which the policies of a rehearsal compare the date of a purchase of the app.
/// No policy distinguishes dates between two of them, so customers with the same other facts have the same verdicts
/// there. Each instant is computed as the rules do, tolerance and rounding included. It has a separate class, because
/// some ends are inclusive and some are not.
struct CriticalInstants: Sendable {
    private let instants: [Date]

    init(of policies: some Sequence<Policy>) {
        // Rule A9.
        var instants = Set(
            Platform.allCases.compactMap { $0.storeOpening?.addingTimeInterval(-Tolerance.seconds) })
        for policy in policies {
            for era in policy.eras {
                for date in era.begins.values.compactMap(\.date) {
                    // Rule B.
                    instants.insert(date.addingTimeInterval(-Tolerance.seconds))
                    instants.insert(date.addingTimeInterval(Tolerance.seconds))
                    // Rule C.
                    guard let window = era.changeover?.window else { continue }
                    instants.insert(date.addingTimeInterval(window.from - Tolerance.seconds))
                    instants.insert(date.addingTimeInterval(window.until + Tolerance.seconds))
                }
            }
            // Rule D.
            for honor in policy.entitlements.flatMap({ $0.honors ?? [] }) {
                if let since = honor.boughtSince { instants.insert(since.addingTimeInterval(-Tolerance.seconds)) }
                if let before = honor.boughtBefore { instants.insert(before.addingTimeInterval(Tolerance.seconds)) }
            }
        }
        self.instants = instants.sorted()
    }

    /// Twice the number of instants before the date, plus one on an instant.
    func place(of date: Date) -> Int {
        var low = 0
        var high = instants.count
        while low < high {
            let middle = (low + high) / 2
            if instants[middle] < date { low = middle + 1 } else { high = middle }
        }
        return 2 * low + (low < instants.count && instants[low] == date ? 1 : 0)
    }

    /// For `PlainFacts.key`: with the month, which is the customer's place in a report.
    func `class`(of date: Date?) -> UInt64 {
        guard let date else { return .max }
        return UInt64(place(of: date)) << 32 | UInt64(UInt32(bitPattern: Month(of: date).index))
    }
}
