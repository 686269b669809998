import Foundation

/// The horizontal time axis of a chart in the HTML report. Each bar is a month, a quarter or a year, depending on how
/// many months the chart covers.
struct TimeScale {
    /// The first month of the first bar.
    private let first: Month
    /// The number of months in a bar: 1, 3 or 12.
    let unit: Int
    /// The number of bars.
    let count: Int
    /// The position of the first bar's left edge in SVG units.
    let left: Double
    /// The width of all bars together in SVG units.
    let width: Double

    /// The maximum number of months in a chart. Earlier months are left out.
    private static let maximumMonths = 360
    /// The number of bars above which a bar gets more months.
    private static let maximumBars = 54

    /// Creates a scale for all months in which customers got the app. It also covers changes from one era to the next
    /// that are up to a year before or after these months. Nil if no month is known.
    init?(months: some Sequence<Month>, changes: [Date], left: Double, width: Double) {
        let certain = months.filter(\.isCertain)
        guard var first = certain.min(), var last = certain.max() else { return nil }
        for month in changes.map({ Month(of: $0) }) where month.isCertain {
            if month < first, month.distance(to: first) <= 12 { first = month }
            if last < month, last.distance(to: month) <= 12 { last = month }
        }
        // With few months, the bars would be very wide. So add a month at each end in turn, up to 12 months.
        while first.distance(to: last) < 11 {
            last = last.advanced(by: 1)
            if first.distance(to: last) < 11 { first = first.advanced(by: -1) }
        }
        if first.distance(to: last) >= Self.maximumMonths { first = last.advanced(by: 1 - Self.maximumMonths) }
        let length = first.distance(to: last) + 1
        unit = [1, 3, 12].first { length / $0 <= Self.maximumBars } ?? 12
        self.first = first.advanced(by: -((first.month - 1) % unit))
        self.left = left
        self.width = width
        count = self.first.distance(to: last) / unit + 1
    }

    /// The width of a bar with its gap.
    var step: Double { width / Double(count) }

    /// What a bar represents: `month`, `quarter` or `year`.
    var unitName: String { unit == 1 ? "month" : unit == 3 ? "quarter" : "year" }

    /// Returns the index of the bar that includes a month; nil if the month is outside the chart or unknown.
    func bar(of month: Month) -> Int? {
        guard month.isCertain else { return nil }
        let bar = first.distance(to: month) / unit
        return first.distance(to: month) >= 0 && bar < count ? bar : nil
    }

    /// Returns the position of a bar's left edge in SVG units.
    func x(ofBar bar: Int) -> Double { left + Double(bar) * step }

    /// Returns the time of a bar, such as `May 2014`, `Q2 2014` or `2014`.
    func title(ofBar bar: Int) -> String {
        let month = first.advanced(by: bar * unit)
        switch unit {
        case 1: return month.title
        case 3: return "Q\((month.month - 1) / 3 + 1) \(month.year)"
        default: return "\(month.year)"
        }
    }

    /// Returns the horizontal position of a date in SVG units. It may be outside the chart.
    func position(of date: Date) -> Double {
        let month = Month(of: date)
        guard month.isCertain else { return month < first ? left - 1 : left + width + 1 }
        let length = month.advanced(by: 1).start.timeIntervalSince(month.start)
        let months = Double(first.distance(to: month)) + date.timeIntervalSince(month.start) / length
        return left + months / Double(unit) * step
    }

    /// Returns the axis under a chart as SVG, with as many years as fit.
    func axis(at y: Double) -> String {
        var svg =
            "<line class=\"axis\" x1=\"\(left.svg)\" y1=\"\(y.svg)\" x2=\"\((left + width).svg)\" y2=\"\(y.svg)\"/>"
        let yearWidth = step / Double(unit) * 12
        // A year needs 38 units. If there is less room, only every second year is shown, and so on.
        let yearsPerTick = max(1, Int((38 / yearWidth).rounded(.up)))
        for number in 0..<(count * unit) {
            let month = first.advanced(by: number)
            guard month.month == 1, month.year % yearsPerTick == 0 else { continue }
            let x = left + Double(number) / Double(unit) * step
            svg += "<line class=\"axis\" x1=\"\(x.svg)\" y1=\"\(y.svg)\" x2=\"\(x.svg)\" y2=\"\((y + 4).svg)\"/>"
            // A label is 26 units wide, and may extend 8 units beyond the chart.
            guard x + 26 <= left + width + 8 else { continue }
            svg += "<text class=\"tick\" x=\"\((x + 2).svg)\" y=\"\((y + 13).svg)\">\(month.year)</text>"
        }
        return svg
    }
}
