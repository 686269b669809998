import Foundation
import TenureCore

/// Who gains and who loses, by the month in which they got the app: gains above the line, losses below it.
struct ChangeChart {
    private static let width = 960.0
    private static let left = 56.0
    private static let height = 150.0

    private let months: [Month: Counts]
    private let entitlement: String
    private let marks: EraMarks
    private let scale: TimeScale

    /// Nil where nobody gains or loses, or no date is known.
    init?(_ report: RehearsalReport, entitlement index: Int) {
        var months: [Month: Counts] = [:]
        for (place, counts) in report.tally.cells.counts
        where counts.indices.contains(index) && counts[index].gains + counts[index].loses > 0 {
            months[place.month, default: Counts()].add(counts[index])
        }
        marks = EraMarks(of: report.comparison.new)
        guard !months.isEmpty,
            let scale = TimeScale(
                // The same scale as that of the histogram above it.
                months: report.tally.cells.counts.keys.map(\.month), changes: marks.dates, left: Self.left,
                width: Self.width - Self.left - 12)
        else { return nil }
        self.scale = scale
        self.months = months
        entitlement = report.tally.entitlements[index]
    }

    var svg: String {
        let top = 12 + Double(marks.rows) * EraMarks.rowHeight
        let shown = months.filter { scale.contains($0.key) }
        let gains = CountScale(upTo: shown.values.map(\.gains).max() ?? 0)
        let losses = CountScale(upTo: shown.values.map(\.loses).max() ?? 0)
        // Both sides have one measure, or a loss of three would look like a gain of thousands.
        let unit = Self.height / Double(max(1, gains.top + losses.top))
        let line = top + Double(gains.top) * unit
        let bottom = top + Self.height
        let label = "Who gains and who loses \(entitlement), by month of purchase"
        var svg =
            "<svg role=\"img\" aria-label=\"\(label.htmlEscaped)\" viewBox=\"0 0 \(Self.width.svg) \((bottom + 24).svg)\">"
        var lastTick = Double.infinity
        for tick in gains.ticks.reversed().map({ $0 }) + losses.ticks.dropFirst().map({ -$0 }) {
            let y = line - Double(tick) * unit
            guard tick == 0 || abs(y - lastTick) >= 13 && abs(y - line) >= 13 else { continue }
            lastTick = y
            svg +=
                "<line class=\"grid\" x1=\"\(Self.left.svg)\" y1=\"\(y.svg)\" x2=\"\((Self.width - 12).svg)\" y2=\"\(y.svg)\"/>"
            svg +=
                "<text class=\"tick\" text-anchor=\"end\" x=\"\((Self.left - 6).svg)\" y=\"\((y + 4).svg)\">\(abs(tick).brief)</text>"
        }
        let gap = min(2, scale.step * 0.15)
        for (month, count) in shown.sorted(by: { $0.key < $1.key }) {
            svg += "<g><title>\(month.title): \(count.gains.grouped) gain, \(count.loses.grouped) lose</title>"
            for (style, number, y) in [
                ("gains", count.gains, line - Double(count.gains) * unit), ("loses", count.loses, line),
            ] where number > 0 {
                svg +=
                    "<rect class=\"\(style)\" x=\"\((scale.x(month) + gap / 2).svg)\" y=\"\(y.svg)\" width=\"\((scale.step - gap).svg)\" height=\"\(max(1, Double(number) * unit).svg)\"/>"
            }
            svg += "</g>"
        }
        svg += marks.svg(scale, top: top, bottom: bottom)
        svg +=
            "<line class=\"axis\" x1=\"\(Self.left.svg)\" y1=\"\(line.svg)\" x2=\"\((Self.width - 12).svg)\" y2=\"\(line.svg)\"/>"
        svg += scale.axis(at: bottom)
        return svg + "</svg>"
    }
}
