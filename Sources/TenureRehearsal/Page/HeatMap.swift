import Foundation
import TenureCore

/// Version against month of purchase on one platform: how many came there, and how many of them have the entitlement.
struct HeatMap {
    let platform: Platform?
    let customers: Int
    private let entitlement: String
    private let rows: [VersionRows.Row]
    /// By row.
    private let cells: [[Month: Counts]]
    private let scale: TimeScale
    private let marks: EraMarks
    /// The versions at which an era begins here.
    private let boundaries: [(era: String, version: AppVersion)]

    private static let width = 960.0
    private static let left = 96.0
    private static let rowHeight = 17.0
    private static let mostRows = 30

    /// One for each platform that has customers, the largest first.
    static func all(_ report: RehearsalReport, entitlement index: Int) -> [HeatMap] {
        let platforms = Set(report.tally.cells.counts.keys.map(\.platform))
        return platforms.compactMap { HeatMap(report, entitlement: index, on: $0) }
            .sorted { ($1.customers, $0.name) < ($0.customers, $1.name) }
    }

    var name: String { platform?.rawValue ?? "no signed platform" }

    private init?(_ report: RehearsalReport, entitlement index: Int, on platform: Platform?) {
        var byVersion: [Place.Version: [Month: Counts]] = [:]
        for (place, counts) in report.tally.cells.counts where place.platform == platform {
            guard counts.indices.contains(index) else { continue }
            byVersion[place.version, default: [:]][place.month, default: Counts()].add(counts[index])
        }
        let policy = report.comparison.new
        marks = EraMarks(of: policy)
        guard
            let scale = TimeScale(
                months: byVersion.values.flatMap(\.keys), changes: marks.dates, left: Self.left,
                width: Self.width - Self.left - 12)
        else { return nil }
        self.scale = scale
        self.platform = platform
        entitlement = report.tally.entitlements[index]
        customers = byVersion.values.flatMap(\.values).reduce(0) { $0 + $1.total }
        boundaries = policy.eras.dropFirst().compactMap { era in
            guard let platform else { return nil }
            let beginning = era.begins[platform] ?? (platform.inheritsFromIOS ? era.begins[.iOS] : nil)
            return beginning?.version.map { (era.name, $0) }
        }
        rows =
            VersionRows(byVersion.keys, boundaries: boundaries.map(\.version), most: Self.mostRows).rows
        cells = rows.map { row in
            row.versions.reduce(into: [:]) { months, version in
                for (month, counts) in byVersion[version] ?? [:] { months[month, default: Counts()].add(counts) }
            }
        }
    }

    var svg: String {
        let top = 12 + Double(marks.rows) * EraMarks.rowHeight
        let bottom = top + Double(rows.count) * Self.rowHeight
        let most = cells.flatMap(\.values).map(\.total).max() ?? 1
        let label = "\(name): version by month of purchase, and the share that has \(entitlement)"
        var svg =
            "<svg role=\"img\" aria-label=\"\(label.htmlEscaped)\" viewBox=\"0 0 \(Self.width.svg) \((bottom + 24).svg)\">"
        // Over all lines, so that none goes through a number.
        var numbers = ""
        for (number, row) in rows.enumerated() {
            let y = top + Double(number) * Self.rowHeight
            svg +=
                "<text class=\"tick\" text-anchor=\"end\" x=\"\((Self.left - 8).svg)\" y=\"\((y + 12).svg)\">\(row.title.htmlEscaped)</text>"
            for (month, counts) in cells[number].sorted(by: { $0.key < $1.key }) where scale.contains(month) {
                let weight = Self.weight(of: counts.total, most: most)
                svg += cell(counts, of: row.title, in: month, at: y, weight)
                numbers += self.number(counts, in: month, at: y, weight)
            }
        }
        for boundary in boundaries {
            guard let number = rows.firstIndex(where: { $0.lowest.map { $0 >= boundary.version } ?? true }) else {
                continue
            }
            let y = top + Double(number) * Self.rowHeight
            let title = "\(boundary.era) begins with \(boundary.version)"
            svg +=
                "<line class=\"era\" x1=\"\(Self.left.svg)\" y1=\"\(y.svg)\" x2=\"\((Self.width - 12).svg)\" y2=\"\(y.svg)\"><title>\(title.htmlEscaped)</title></line>"
        }
        svg += marks.svg(scale, top: top, bottom: bottom)
        svg += numbers
        svg += scale.axis(at: bottom)
        return svg + "</svg>"
    }

    /// By its logarithm: one customer is seen beside a hundred thousand.
    private static func weight(of count: Int, most: Int) -> Double {
        log(1 + Double(count)) / log(1 + Double(max(1, most)))
    }

    private func cell(_ counts: Counts, of row: String, in month: Month, at y: Double, _ weight: Double) -> String {
        let title =
            "\(row), \(month.title): \(counts.total.grouped("customer")), \(counts.granted.grouped) granted, \(counts.undetermined.grouped) undetermined, \(counts.denied.grouped) denied"
        return
            "<rect class=\"\(counts.shade)\" fill-opacity=\"\((0.3 + 0.7 * weight).svg)\" x=\"\((scale.x(month) + 0.5).svg)\" y=\"\((y + 0.5).svg)\" width=\"\((scale.step - 1).svg)\" height=\"\((Self.rowHeight - 1).svg)\"><title>\(title.htmlEscaped)</title></rect>"
    }

    private func number(_ counts: Counts, in month: Month, at y: Double, _ weight: Double) -> String {
        guard Double(counts.total.brief.count) * 6.2 + 2 <= scale.step else { return "" }
        let x = scale.x(month)
        var style = "cell"
        switch counts.shade {
        // The full colors are dark on white paper and light on black; the pale ones are not.
        case "granted", "denied": style += weight > 0.8 ? " strong" : ""
        case "undetermined": style += weight > 0.45 ? " doubt" : ""
        default: break
        }
        if marks.dates.contains(where: { scale.x($0).map { x - 3 <= $0 && $0 <= x + scale.step + 3 } ?? false }) {
            style += " crossed"
        }
        return
            "<text class=\"\(style)\" text-anchor=\"middle\" x=\"\((x + scale.step / 2).svg)\" y=\"\((y + 12).svg)\">\(counts.total.brief)</text>"
    }

    var remark: String {
        let unknown = cells.reduce(0) { $0 + ($1[.unknown]?.total ?? 0) }
        return unknown > 0 ? "\(unknown.grouped) customers have no date." : ""
    }
}

extension Counts {
    /// All of them, most, some, or none; doubt is a shade of its own.
    fileprivate var shade: String {
        if undetermined * 2 > total { return "undetermined" }
        if granted == total { return "granted" }
        if granted == 0 { return "denied" }
        return granted * 2 >= total ? "mostlyGranted" : "mostlyDenied"
    }
}
