import Foundation
import TenureCore
import TenureJSON

/// Divides all original purchase dates into classes, so that `RightsComparison` can compare two policies without trying
/// every date. Each policy treats all dates of a class alike, so one date of each is enough.
struct DateClasses {
    /// One class: a period, or an unknown date.
    struct Class {
        /// The date to try; nil for the class of an unknown date.
        let representative: Date?
        /// The beginning of the period, inclusive; nil for the first period.
        let from: Date?
        /// The end of the period, exclusive; nil if the period has no end.
        let until: Date?
    }

    /// The classes: the periods in ascending order, then the class of an unknown date.
    let classes: [Class]

    /// The time from the last date of a period to the next date. The App Store's dates have milliseconds.
    private static let oneMillisecond: TimeInterval = 0.001

    /// Collects all dates with which the policies compare a purchase date. Each of them begins a new class.
    ///
    /// - Parameters:
    ///   - timelines: the eras (`Era`) of both policies on one platform.
    ///   - policies: both policies.
    ///   - now: the current time. No purchase date is later.
    init(timelines: [Timeline], policies: [Policy], now: Date) {
        var edges: Set<Date> = []
        for timeline in timelines {
            for date in timeline.beginnings.compactMap({ $0?.date }) {
                edges.insert(date.addingTimeInterval(-Tolerance.seconds))
                edges.insert(date.addingTimeInterval(Tolerance.seconds + Self.oneMillisecond))
            }
            for changeover in timeline.changeovers {
                edges.insert(changeover.window.lowerBound)
                edges.insert(changeover.window.upperBound.addingTimeInterval(Self.oneMillisecond))
            }
            // Rule A9 of Docs/decision-rules.md: an earlier date contradicts the platform.
            if let opening = timeline.platform?.storeOpening {
                edges.insert(opening.addingTimeInterval(-Tolerance.seconds))
            }
        }
        for honor in policies.flatMap(\.entitlements).flatMap({ $0.honors ?? [] }) {
            if let since = honor.boughtSince { edges.insert(since.addingTimeInterval(-Tolerance.seconds)) }
            if let before = honor.boughtBefore {
                edges.insert(before.addingTimeInterval(Tolerance.seconds + Self.oneMillisecond))
            }
        }
        let sorted = edges.filter { $0 <= now }.sorted()
        // If no date is compared, any date will do, such as one of January 2008.
        let start = (sorted.first ?? Date(timeIntervalSince1970: 1.2e9)).addingTimeInterval(-86_400)
        let ends: [Date?] = sorted.dropFirst().map(Optional.some) + [now == .distantFuture ? nil : now]
        classes =
            [Class(representative: start, from: nil, until: sorted.first)]
            + zip(sorted, ends).map { Class(representative: $0, from: $0, until: $1) }
            + [Class(representative: nil, from: nil, until: nil)]
    }

    /// Describes the classes with these indexes for a message, such as `before 2015-06-10T18:00:00Z`; nil if these are
    /// all classes.
    func inWords(_ chosen: Set<Int>) -> String? {
        guard chosen.count < classes.count else { return nil }
        // Describe consecutive classes as one period.
        let runs = chosen.sorted().filter { classes[$0].representative != nil }.runs
        let hasUnknown = chosen.contains { classes[$0].representative == nil }
        let dated = classes.count - 1
        var words = runs.map { run -> String in
            let from = classes[run.lowerBound].from
            // The last class reaches to the present, so the message contains no end.
            let until = run.upperBound == dated - 1 ? nil : classes[run.upperBound].until
            switch (from, until) {
            case (nil, nil): return "on any known date"
            case (nil, let until?): return "before \(until.inSeconds)"
            case (let from?, nil): return "since \(from.inSeconds)"
            case (let from?, let until?): return "from \(from.inSeconds) until \(until.inSeconds)"
            }
        }
        if hasUnknown { words.append("without a known purchase date") }
        return words.joined(separator: " or ")
    }
}

extension Date {
    /// The date in RFC 3339, without milliseconds.
    fileprivate var inSeconds: String { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)).rfc3339 }
}
