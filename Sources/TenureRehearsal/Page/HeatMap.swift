import Foundation
import TenureCore

/// Version against month of purchase on one platform: how many came there, and how many of them have the entitlement.
struct HeatMap {
    let platform: Platform?
    let customers: Int
    private let entitlement: String
    private let rows: [Place.Version]
    private let cells: [Place.Version: [Month: Counts]]
    private let scale: TimeScale
    private let marks: EraMarks
    /// The versions at which an era begins here.
    private let boundaries: [(era: String, version: AppVersion)]
    /// Versions that share the last row, since there are too many.
    private let folded: Int

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
        var cells: [Place.Version: [Month: Counts]] = [:]
        var totals: [Place.Version: Int] = [:]
        for (place, counts) in report.tally.cells.counts where place.platform == platform {
            guard counts.indices.contains(index) else { continue }
            cells[place.version, default: [:]][place.month, default: Counts()].add(counts[index])
            totals[place.version, default: 0] += counts[index].total
        }
        let policy = report.comparison.new
        marks = EraMarks(of: policy)
        guard
            let scale = TimeScale(
                months: cells.values.flatMap(\.keys), changes: marks.dates, left: Self.left,
                width: Self.width - Self.left - 12)
        else { return nil }
        self.scale = scale
        self.platform = platform
        entitlement = report.tally.entitlements[index]
        customers = totals.values.reduce(0, +)

        // The rows that hold most customers; the rest as one.
        let bySize = totals.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key.precedes($1.key) }
        let kept = Set(bySize.prefix(Self.mostRows).map(\.key))
        var folded = 0
        for (version, _) in bySize.dropFirst(Self.mostRows) where version != .other {
            for (month, counts) in cells[version] ?? [:] {
                cells[.other, default: [:]][month, default: Counts()].add(counts)
            }
            cells[version] = nil
            folded += 1
        }
        self.cells = cells
        self.folded = folded
        rows = (folded > 0 ? kept.union([.other]) : kept).sorted { $0.precedes($1) }
        boundaries = policy.eras.dropFirst().compactMap { era in
            guard let platform else { return nil }
            let beginning = era.begins[platform] ?? (platform.inheritsFromIOS ? era.begins[.iOS] : nil)
            return beginning?.version.map { (era.name, $0) }
        }
    }

    var svg: String {
        let top = 12 + Double(marks.rows) * EraMarks.rowHeight
        let bottom = top + Double(rows.count) * Self.rowHeight
        let most = cells.values.flatMap(\.values).map(\.total).max() ?? 1
        let label = "\(name): version by month of purchase, and the share that has \(entitlement)"
        var svg =
            "<svg role=\"img\" aria-label=\"\(label.htmlEscaped)\" viewBox=\"0 0 \(Self.width.svg) \((bottom + 24).svg)\">"
        for (number, version) in rows.enumerated() {
            let y = top + Double(number) * Self.rowHeight
            svg +=
                "<text class=\"tick\" text-anchor=\"end\" x=\"\((Self.left - 8).svg)\" y=\"\((y + 12).svg)\">\(version.title.htmlEscaped)</text>"
            for (month, counts) in (cells[version] ?? [:]).sorted(by: { $0.key < $1.key }) where scale.contains(month) {
                svg += cell(counts, of: version, in: month, at: y, most: most)
            }
        }
        for boundary in boundaries {
            guard
                let number = rows.firstIndex(where: { row in
                    if case .version(let text) = row, let version = AppVersion(text) {
                        return version >= boundary.version
                    }
                    return true
                })
            else { continue }
            let y = top + Double(number) * Self.rowHeight
            let title = "\(boundary.era) begins with \(boundary.version)"
            svg +=
                "<line class=\"era\" x1=\"\(Self.left.svg)\" y1=\"\(y.svg)\" x2=\"\((Self.width - 12).svg)\" y2=\"\(y.svg)\"><title>\(title.htmlEscaped)</title></line>"
        }
        svg += marks.svg(scale, top: top, bottom: bottom)
        svg += scale.axis(at: bottom)
        return svg + "</svg>"
    }

    private func cell(_ counts: Counts, of version: Place.Version, in month: Month, at y: Double, most: Int) -> String {
        // By its logarithm: one customer is seen beside a hundred thousand.
        let weight = log(1 + Double(counts.total)) / log(1 + Double(max(1, most)))
        let title =
            "\(version.title), \(month.title): \(counts.total.grouped) customers, \(counts.granted.grouped) granted, \(counts.undetermined.grouped) undetermined, \(counts.denied.grouped) denied"
        var svg =
            "<g><title>\(title.htmlEscaped)</title><rect class=\"\(counts.shade)\" fill-opacity=\"\((0.3 + 0.7 * weight).svg)\" x=\"\((scale.x(month) + 0.5).svg)\" y=\"\((y + 0.5).svg)\" width=\"\((scale.step - 1).svg)\" height=\"\((Self.rowHeight - 1).svg)\"/>"
        if Double(counts.total.brief.count) * 6.2 + 2 <= scale.step {
            svg +=
                "<text class=\"cell\(weight > 0.45 ? " strong" : "")\" text-anchor=\"middle\" x=\"\((scale.x(month) + scale.step / 2).svg)\" y=\"\((y + 12).svg)\">\(counts.total.brief)</text>"
        }
        return svg + "</g>"
    }

    var remark: String {
        var remarks: [String] = []
        if folded > 0 {
            remarks.append("\(folded.grouped) further versions with fewer customers share the row “other”.")
        }
        let unknown = cells.values.reduce(0) { $0 + ($1[.unknown]?.total ?? 0) }
        if unknown > 0 { remarks.append("\(unknown.grouped) customers have no date.") }
        return remarks.joined(separator: " ")
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

extension Place.Version {
    fileprivate var title: String {
        switch self {
        case .none: "no version"
        case .malformed: "malformed"
        case .other: "other"
        case .version(let text): text.count > 13 ? text.prefix(12) + "…" : text
        }
    }
}
