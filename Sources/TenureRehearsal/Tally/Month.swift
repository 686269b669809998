import Foundation
import TenureCore

/// A calendar month in UTC. All months before the App Store opened are treated as one, and so are all after 2099.
struct Month: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of months since January of the year 0.
    let index: Int32

    /// The month of a customer without a purchase date.
    static let unknown = Month(index: -1)
    /// All months before July 2008, when the App Store opened.
    static let earlier = Month(index: 2008 * 12 + 5)
    /// All months after 2099.
    static let later = Month(index: 2100 * 12)

    var year: Int { Int(index) / 12 }
    /// The month of the year, from 1 to 12.
    var month: Int { Int(index) % 12 + 1 }
    /// Whether this is a single calendar month, and not `unknown`, `earlier` or `later`.
    var isCertain: Bool { self > .earlier && self < .later }

    func advanced(by months: Int) -> Month { Month(index: index + Int32(clamping: months)) }

    /// The beginning of the month.
    var start: Date { CivilDay(year: year, month: month, day: 1).midnight }

    static func < (left: Month, right: Month) -> Bool { left.index < right.index }
}

extension Month {
    /// The month of a date; `unknown` without a date.
    init(of date: Date?) {
        guard let date else {
            self = .unknown
            return
        }
        let day = CivilDay(of: date)
        let month = Month(index: Int32(clamping: day.year * 12 + day.month - 1))
        self = min(max(month, .earlier), .later)
    }

    /// The month in JSON and on the terminal, such as `2014-05`.
    package var description: String {
        switch self {
        case .unknown: "unknown"
        case .earlier: "before 2008-07"
        case .later: "after 2099"
        default: "\(year)-\(month < 10 ? "0" : "")\(month)"
        }
    }

    /// Returns the number of months from this month to another. Negative if the other month is earlier.
    func distance(to other: Month) -> Int { Int(other.index) - Int(index) }

    private static let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The month for people, such as `May 2014`.
    var title: String { isCertain ? "\(Self.names[(month - 1) % 12]) \(year)" : description }
}
