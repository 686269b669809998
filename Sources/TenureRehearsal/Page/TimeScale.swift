import Foundation
import TenureCore

/// From months and instants to places on a chart.
struct TimeScale {
    let first: Month
    let count: Int
    let left: Double
    let width: Double

    private static let mostMonths = 240

    /// Over all months that have customers, and the changes of the policy that lie near them. Nil where no date is known.
    init?(months: some Sequence<Month>, changes: [Date], left: Double, width: Double) {
        let certain = months.filter(\.isCertain)
        guard var first = certain.min(), var last = certain.max() else { return nil }
        for month in changes.map({ Month(of: $0) }) where month.isCertain {
            if month < first, month.distance(to: first) <= 12 { first = month }
            if last < month, last.distance(to: month) <= 12 { last = month }
        }
        // A few months make bars as broad as doors.
        while first.distance(to: last) < 11 {
            last = last.advanced(by: 1)
            if first.distance(to: last) < 11 { first = first.advanced(by: -1) }
        }
        if first.distance(to: last) >= Self.mostMonths { first = last.advanced(by: 1 - Self.mostMonths) }
        self.first = first
        self.left = left
        self.width = width
        count = first.distance(to: last) + 1
    }

    var step: Double { width / Double(count) }

    func contains(_ month: Month) -> Bool { month.isCertain && (0..<count).contains(first.distance(to: month)) }

    func x(_ month: Month) -> Double { left + Double(first.distance(to: month)) * step }

    /// Nil where it lies beyond the chart.
    func x(_ date: Date) -> Double? {
        let month = Month(of: date)
        guard contains(month) else { return nil }
        let length = month.advanced(by: 1).start.timeIntervalSince(month.start)
        return x(month) + step * date.timeIntervalSince(month.start) / length
    }

    /// The years that begin in the chart, as many as have room, and where.
    var years: [(text: String, x: Double)] {
        let every = max(1, Int((46 / (step * 12)).rounded(.up)))
        return (0..<count).map { first.advanced(by: $0) }
            .filter { $0.month == 1 && $0.year % every == 0 }
            .map { ("\($0.year)", x($0)) }
    }

    /// Years and, where there is room, quarters, as lines under a chart.
    func axis(at y: Double) -> String {
        var svg =
            "<line class=\"axis\" x1=\"\(left.svg)\" y1=\"\(y.svg)\" x2=\"\((left + width).svg)\" y2=\"\(y.svg)\"/>"
        for year in years {
            svg +=
                "<line class=\"axis\" x1=\"\(year.x.svg)\" y1=\"\(y.svg)\" x2=\"\(year.x.svg)\" y2=\"\((y + 6).svg)\"/>"
            svg += "<text class=\"tick\" x=\"\((year.x + 3).svg)\" y=\"\((y + 16).svg)\">\(year.text)</text>"
        }
        guard step >= 7 else { return svg }
        for number in 0..<count {
            let month = first.advanced(by: number)
            guard month.month % 3 == 1, month.month != 1 else { continue }
            let x = x(month)
            svg += "<line class=\"axis\" x1=\"\(x.svg)\" y1=\"\(y.svg)\" x2=\"\(x.svg)\" y2=\"\((y + 4).svg)\"/>"
            if step >= 12 {
                svg += "<text class=\"tick\" x=\"\((x + 3).svg)\" y=\"\((y + 16).svg)\">\(month.shortName)</text>"
            }
        }
        return svg
    }
}

extension Month {
    func distance(to other: Month) -> Int { Int(other.index) - Int(index) }

    private static let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    var shortName: String { Self.names[(month - 1) % 12] }

    /// `May 2014`.
    var title: String { isCertain ? "\(shortName) \(year)" : description }
}

/// Round numbers for the side of a chart.
struct CountScale {
    let top: Int
    let ticks: [Int]

    /// At least as high as `highest`.
    init(upTo highest: Int) {
        var unit = 1
        while unit * 5 < highest { unit *= 10 }
        let step = [unit / 5, unit / 2, unit].filter { $0 > 0 }.first { $0 * 5 >= highest } ?? max(1, unit)
        top = max(step, (highest + step - 1) / step * step)
        ticks = Array(stride(from: 0, through: top, by: step))
    }
}
