import Foundation
import TenureCore

/// Escapes and formats text, code, dates and numbers for the HTML report.
extension String {
    /// The text escaped for HTML text and quoted attributes. Hidden characters become visible escapes.
    var htmlEscaped: String {
        var result = ""
        result.reserveCapacity(utf8.count)
        for scalar in escapedLinesForDisplay.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text escaped for HTML, with text between backticks as `<code>`.
    var htmlWithCode: String {
        let parts = components(separatedBy: "`")
        // A backtick without a second backtick is an ordinary character.
        guard parts.count % 2 == 1 else { return htmlEscaped }
        return parts.enumerated()
            .map { $0 % 2 == 0 ? $1.htmlEscaped : "<code>\($1.htmlEscaped)</code>" }.joined()
    }

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
        return withWrittenRanges.replacing(instant) { match in String(match.0).writtenToTheMinute ?? String(match.0) }
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

extension Double {
    /// The number as a coordinate in SVG.
    var svg: String { withTwoDecimals }

    /// The number with at most two decimals, such as `12`, `-0.5` or `3.25`. Numbers of 10,000,000,000 or more, and
    /// values that aren't numbers, are `0`: they would break a drawing.
    var withTwoDecimals: String {
        let hundredths = (self * 100).rounded()
        guard hundredths.isFinite, abs(hundredths) < 1e12 else { return "0" }
        let whole = Int(hundredths)
        let rest = abs(whole) % 100
        let start = "\(whole < 0 ? "-" : "")\(abs(whole) / 100)"
        if rest == 0 { return start }
        return start + (rest < 10 ? ".0\(rest)" : rest % 10 == 0 ? ".\(rest / 10)" : ".\(rest)")
    }
}

extension Int {
    /// A short form such as `940`, `12k` or `1.3M`.
    var brief: String {
        func short(_ value: Double, _ unit: String) -> String {
            let tenths = Int((value * 10).rounded())
            return tenths >= 100 || tenths % 10 == 0
                ? "\((tenths + 5) / 10)\(unit)" : "\(tenths / 10).\(tenths % 10)\(unit)"
        }
        switch self {
        case ..<1000: return "\(self)"
        case ..<999_500: return short(Double(self) / 1000, "k")
        default: return short(Double(self) / 1_000_000, "M")
        }
    }
}
