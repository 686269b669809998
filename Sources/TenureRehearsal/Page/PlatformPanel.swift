import Foundation
import TenureCore

/// The charts of one entitlement on one platform in the HTML report: a histogram of customers by purchase date, and a
/// bar for each version with which customers got the app.
struct PlatformPanel {
    /// The platform on which the customers got the app; nil if it is unknown.
    let platform: Platform?
    /// The counts of all customers on the platform.
    private(set) var counts = Counts()
    /// The name of the entitlement.
    private let entitlement: String
    /// Whether there is an old policy, so that the charts show who gains and who loses.
    private let isCompared: Bool
    /// The time axis of the histogram; nil if no customer has a known purchase date.
    private let scale: TimeScale?
    /// The policy's eras (periods in which the app was paid, or free) on this platform; nil if the policy doesn't
    /// mention the platform.
    private let spans: EraSpans?
    /// The counts of each bar of the histogram, by the bar's index in `scale`.
    private var bars: [Int: Counts] = [:]
    /// The rows of the chart by version, with the counts of each.
    private let rows: [(row: VersionRows.Row, counts: Counts)]
    /// The eras that begin with a certain version on this platform.
    private let boundaries: [(era: String, version: AppVersion)]
    /// The number of customers without a purchase date in the range of `scale`.
    private var withoutBar = 0

    /// The width of a chart, the width of the labels left of the bars, and the height of the bars, in SVG units.
    private static let width = 420.0
    private static let left = 40.0
    private static let height = 92.0
    /// The largest number of versions that get a row each. With more versions, the approximate number of rows. Each
    /// era has at least one row.
    private static let maximumRows = 7

    /// Returns a panel for each platform on which customers got the app, the platform with the most customers first.
    static func all(_ report: RehearsalReport, entitlement index: Int) -> [PlatformPanel] {
        Set(report.tally.cells.counts.keys.map(\.platform))
            .map { PlatformPanel(report, entitlement: index, on: $0) }
            .filter { $0.counts.total > 0 }
            .sorted(byCount: \.counts.total, then: \.name)
    }

    var name: String { platform?.rawValue ?? "Unknown platform" }
    /// Whether the histogram may show a changeover window: the time around a change of eras in which price and build
    /// may disagree.
    var hasChangeover: Bool { spans?.hasChangeover ?? false }

    private init(_ report: RehearsalReport, entitlement index: Int, on platform: Platform?) {
        self.platform = platform
        entitlement = report.tally.entitlements[index]
        isCompared = report.comparison.old != nil
        var byMonth: [Month: Counts] = [:]
        var byVersion: [Place.Version: Counts] = [:]
        for (place, placeCounts) in report.tally.cells.counts
        where place.platform == platform && placeCounts.indices.contains(index) {
            counts.add(placeCounts[index])
            byMonth[place.month, default: Counts()].add(placeCounts[index])
            byVersion[place.version, default: Counts()].add(placeCounts[index])
        }
        let policy = report.comparison.new
        spans = EraSpans(of: policy, on: platform)
        // Use one scale for all platforms, so that their charts can be compared.
        let changes = Platform.allCases.flatMap { EraSpans(of: policy, on: $0)?.dates ?? [] }
        scale = TimeScale(
            months: report.tally.cells.counts.keys.map(\.month), changes: changes, left: Self.left,
            width: Self.width - Self.left - 6)
        for (month, more) in byMonth {
            if let bar = scale?.bar(of: month) {
                bars[bar, default: Counts()].add(more)
            } else {
                withoutBar += more.total
            }
        }
        boundaries = Self.boundaries(of: policy, on: platform)
        rows = VersionRows(byVersion.keys, boundaries: boundaries.map(\.version), maximum: Self.maximumRows).rows.map {
            row in
            (row, row.versions.reduce(into: Counts()) { $0.add(byVersion[$1] ?? Counts()) })
        }
    }

    /// Returns the eras that begin with a version on a platform.
    private static func boundaries(of policy: Policy, on platform: Platform?) -> [(era: String, version: AppVersion)] {
        guard let platform, let timeline = policy.timelines.possible(for: platform).first else { return [] }
        return zip(policy.eras, timeline.beginnings).compactMap { era, beginning in
            beginning?.version.map { (era.name, $0) }
        }
    }

    /// The panel as HTML.
    var markup: String {
        var markup =
            "<section class=\"panel\"><h4>\(name.htmlEscaped) <span>\(counts.total.grouped("customer"))</span></h4>"
        if let scale, !bars.isEmpty { markup += chart(scale) }
        // If the name of an era is wider than its span, the name appears only here.
        if let caption = spans?.caption, !caption.isEmpty { markup += "<p class=\"note\">\(caption.htmlEscaped)</p>" }
        if withoutBar > 0 {
            markup += "<p class=\"note\">\(withoutBar.grouped("customer")) without a purchase date in this range.</p>"
        }
        return markup + versions + "</section>"
    }

    // MARK: By purchase date

    /// Returns the histogram as SVG: the title and the ticks, the bars, the strip of eras, and the axis. The numbers
    /// are margins and offsets of texts, in SVG units.
    private func chart(_ scale: TimeScale) -> String {
        let top = spans?.dates.isEmpty == false ? EraSpans.stripHeight + 22 : 22
        let bottom = top + Self.height
        let countScale = CountScale(upTo: bars.values.map(\.total).max() ?? 0)
        func height(_ count: Int) -> Double { Self.height * Double(count) / Double(countScale.top) }
        let label = "\(name): customers by purchase date, and how \(entitlement) changes"
        var svg =
            "<svg role=\"img\" aria-label=\"\(label.htmlEscaped)\" viewBox=\"0 0 \(Self.width.svg) \((bottom + 32).svg)\">"
        svg += "<text class=\"axisTitle\" x=\"0\" y=\"\((top - 8).svg)\">Customers per \(scale.unitName)</text>"
        for tick in countScale.ticks {
            let y = bottom - height(tick)
            svg +=
                "<line class=\"grid\" x1=\"\(Self.left.svg)\" y1=\"\(y.svg)\" x2=\"\((Self.width - 6).svg)\" y2=\"\(y.svg)\"/>"
            svg +=
                "<text class=\"tick\" text-anchor=\"end\" x=\"\((Self.left - 5).svg)\" y=\"\((y + 4).svg)\">\(tick.brief)</text>"
        }
        let gap = min(1.5, scale.step * 0.15)
        for (bar, barCounts) in bars.sorted(by: { $0.key < $1.key }) {
            var y = bottom
            let words = barCounts.words(isCompared: isCompared)
            svg += "<g><title>\(scale.title(ofBar: bar)): \(words.htmlEscaped)</title>"
            for part in BarPart.allCases where barCounts.count(part) > 0 {
                let partHeight = max(1, height(barCounts.count(part)))
                y -= partHeight
                svg +=
                    "<rect class=\"\(part.rawValue)\" x=\"\((scale.x(ofBar: bar) + gap / 2).svg)\" y=\"\(y.svg)\" width=\"\((scale.step - gap).svg)\" height=\"\(partHeight.svg)\"/>"
            }
            svg += "</g>"
        }
        // Draw the strip of eras above the chart, with lines down through the bars.
        svg += spans?.svg(scale, top: 0, bottom: bottom) ?? ""
        svg += scale.axis(at: bottom)
        svg +=
            "<text class=\"axisTitle\" text-anchor=\"middle\" x=\"\((Self.left + scale.width / 2).svg)\" y=\"\((bottom + 28).svg)\">Purchase date</text>"
        return svg + "</svg>"
    }

    // MARK: By version

    /// The rows by version as HTML, with a line where an era begins.
    private var versions: String {
        let noun = (platform?.versionKey.rawValue ?? "version").capitalized
        let largest = rows.map(\.counts.total).max() ?? 1
        var markup =
            "<div class=\"rows\"><div class=\"row head\"><span>\(noun)</span><span>Customers</span><span></span></div>"
        var boundariesLeft = boundaries.sorted { $0.version < $1.version }[...]
        for (row, counts) in rows {
            while let boundary = boundariesLeft.first, row.lowest.map({ $0 >= boundary.version }) ?? true {
                markup +=
                    "<div class=\"begins\"><span>\(boundary.era.htmlEscaped) begins with \(boundary.version.description.htmlEscaped)</span></div>"
                boundariesLeft = boundariesLeft.dropFirst()
            }
            let share = Double(counts.total) / Double(max(1, largest)) * 100
            // If a range of versions is too long for one line, break it after the dash.
            let title = row.title.htmlEscaped.replacingOccurrences(of: "–", with: "–<wbr>")
            markup +=
                "<div class=\"row\"><span>\(title)</span>\(counts.bar(isCompared: isCompared, share: max(1, share)))<span>\(counts.total.grouped)</span></div>"
        }
        return markup + "</div>"
    }
}
