import Foundation
import TenureCore

/// Customers by the month in which they got the app, stacked by outcome, with the eras drawn in.
struct HistogramChart {
    private static let width = 960.0
    private static let left = 56.0
    private static let height = 190.0

    private let months: [Month: Counts]
    private let entitlement: String
    private let marks: EraMarks
    private let scale: TimeScale

    /// Nil where no date is known.
    init?(_ report: RehearsalReport, entitlement index: Int) {
        var months: [Month: Counts] = [:]
        for (place, counts) in report.tally.cells.counts where counts.indices.contains(index) {
            months[place.month, default: Counts()].add(counts[index])
        }
        marks = EraMarks(of: report.comparison.new)
        guard
            let scale = TimeScale(
                months: months.keys, changes: marks.dates, left: Self.left, width: Self.width - Self.left - 12)
        else { return nil }
        self.scale = scale
        self.months = months
        entitlement = report.tally.entitlements[index]
    }

    /// From the axis upwards.
    private static let stack: [Decision.Outcome] = [.granted, .undetermined, .denied]

    var svg: String {
        let top = 12 + Double(marks.rows) * EraMarks.rowHeight
        let bottom = top + Self.height
        let counts = CountScale(upTo: months.filter { scale.contains($0.key) }.values.map(\.total).max() ?? 0)
        func height(_ count: Int) -> Double { Self.height * Double(count) / Double(counts.top) }
        let label = "Customers by month of purchase, and what they have of \(entitlement)"
        var svg =
            "<svg role=\"img\" aria-label=\"\(label.htmlEscaped)\" viewBox=\"0 0 \(Self.width.svg) \((bottom + 24).svg)\">"
        for tick in counts.ticks {
            let y = bottom - height(tick)
            svg +=
                "<line class=\"grid\" x1=\"\(Self.left.svg)\" y1=\"\(y.svg)\" x2=\"\((Self.width - 12).svg)\" y2=\"\(y.svg)\"/>"
            svg +=
                "<text class=\"tick\" text-anchor=\"end\" x=\"\((Self.left - 6).svg)\" y=\"\((y + 4).svg)\">\(tick.brief)</text>"
        }
        let gap = min(2, scale.step * 0.15)
        for (month, count) in months.sorted(by: { $0.key < $1.key }) where scale.contains(month) {
            var y = bottom
            let numbers = Self.stack.map { "\($0.rawValue) \(count[$0].grouped)" }.joined(separator: ", ")
            svg += "<g><title>\(month.title): \(count.total.grouped) customers; \(numbers)</title>"
            for outcome in Self.stack where count[outcome] > 0 {
                y -= height(count[outcome])
                svg +=
                    "<rect class=\"\(outcome.rawValue)\" x=\"\((scale.x(month) + gap / 2).svg)\" y=\"\(y.svg)\" width=\"\((scale.step - gap).svg)\" height=\"\(max(0.6, height(count[outcome])).svg)\"/>"
            }
            svg += "</g>"
        }
        svg += marks.svg(scale, top: top, bottom: bottom)
        svg += scale.axis(at: bottom)
        return svg + "</svg>"
    }

    /// What has no place in the chart.
    var remarks: String {
        var remarks: [String] = []
        let unknown = months[.unknown]?.total ?? 0
        if unknown > 0 {
            remarks.append("\(unknown.grouped) customers without a date of purchase are not in the chart.")
        }
        let beyond = months.filter { $0.key.isKnown && !scale.contains($0.key) }.values.reduce(0) { $0 + $1.total }
        if beyond > 0 { remarks.append("\(beyond.grouped) customers bought before or after what it shows.") }
        if !marks.undated.isEmpty {
            remarks.append("No date is known for the beginning of \(marks.undated.joined(separator: ", ")).")
        }
        return remarks.joined(separator: " ")
    }

    var hasChangeover: Bool { marks.hasChangeover }
}
