import Foundation
import TenureCore

extension String {
    /// The text of a linter message with its dates as people write them, such as `June 10, 2015, 18:00 UTC`. Text
    /// between backticks isn't changed.
    ///
    /// The linter's dates include the tolerance of two seconds with which Tenure compares dates, and readers don't need
    /// it. So each date is rounded to the minute.
    var withWrittenDates: String {
        let parts = components(separatedBy: "`")
        guard parts.count % 2 == 1 else { return self }
        return parts.enumerated().map { $0 % 2 == 0 ? $1.replacingDates : $1 }.joined(separator: "`")
    }

    /// The text, which has no backticks, with all of its dates replaced.
    private var replacingDates: String {
        let instant = #/\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?\b/#.wordBoundaryKind(.simple)
        let range = #/from (\S+Z) until (\S+Z)/#
        // A range that is only as long as the tolerance is written as one instant.
        let withWrittenRanges = replacing(range) { match in
            guard let from = String(match.1).writtenToTheMinute, let until = String(match.2).writtenToTheMinute else {
                return String(match.0)
            }
            return from == until ? "around \(from)" : "from \(from) until \(until)"
        }
        return withWrittenRanges.replacing(instant) { match in
            String(match.0).writtenToTheMinute ?? String(match.0)
        }
    }

    /// The text's date as people write it, rounded to the minute.
    ///
    /// Nil if the text isn't a date, or if its time is more than 3 seconds from a whole minute. The linter adds the
    /// tolerance of 2 seconds to dates.
    private var writtenToTheMinute: String? {
        Date(written: self).flatMap { date in
            let minute = Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 60).rounded() * 60)
            return abs(minute.timeIntervalSince(date)) <= 3 ? minute.readable : nil
        }
    }
}
