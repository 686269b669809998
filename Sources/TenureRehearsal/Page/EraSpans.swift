import Foundation
import TenureCore

/// The eras of a policy (periods in which the app was paid, or free) on one platform. They are drawn as a strip above a
/// chart of the HTML report, with the name of each era within its span.
struct EraSpans {
    /// The beginning of an era, and the changeover window around it (the time in which price and build may disagree).
    private struct Beginning {
        let name: String
        let date: Date
        let changeover: Changeover?
    }

    /// The label of the span before the first dated beginning: the name of the first era, or several names if eras
    /// without a date may be there.
    private let firstLabel: String
    /// The beginnings with a date, in the order of the policy.
    private let beginnings: [Beginning]
    /// The eras without a date for their beginning on this platform. Such eras have no position in the chart.
    private let undatedEras: [String]

    /// Collects the eras on a platform. Nil if the platform is unknown, or if the policy doesn't mention it.
    init?(of policy: Policy, on platform: Platform?) {
        guard let platform, let timeline = policy.timelines.possible(for: platform).first, timeline.platform != nil
        else { return nil }
        var namesBeforeFirstDate = policy.eras.dropFirst(timeline.firstEra).prefix(1).map(\.name)
        var beginnings: [Beginning] = []
        var undatedEras: [String] = []
        for (era, beginning) in zip(policy.eras, timeline.beginnings).dropFirst(timeline.firstEra + 1) {
            guard let beginning else { continue }
            if let date = beginning.date {
                beginnings.append(Beginning(name: era.name, date: date, changeover: era.changeover))
            } else {
                undatedEras.append(era.name)
                if beginnings.isEmpty { namesBeforeFirstDate.append(era.name) }
            }
        }
        firstLabel = namesBeforeFirstDate.joined(separator: " / ")
        self.beginnings = beginnings
        self.undatedEras = undatedEras
    }

    /// The dates at which eras begin.
    var dates: [Date] { beginnings.map(\.date) }
    /// Whether at least one of the beginnings has a changeover window.
    var hasChangeover: Bool { beginnings.contains { $0.changeover?.window != nil } }

    /// The eras as text, such as `Eras: paid until June 10, 2015; freemium since then.`
    var caption: String {
        var text = ""
        if !beginnings.isEmpty {
            let names = [firstLabel] + beginnings.map(\.name)
            let parts = zip(names, beginnings).map { "\($0) until \(CivilDay(of: $1.date).inWords)" }
            text = "Eras: " + parts.joined(separator: "; ") + "; \(names.last ?? "") since then."
        }
        if !undatedEras.isEmpty {
            text += "\(text.isEmpty ? "" : " ")The policy has no date for the beginning of \(undatedEras.listed)."
        }
        return text
    }

    /// The height of the strip in SVG units.
    static let stripHeight = 15.0

    /// Returns the strip as SVG, with a line down through the chart at the beginning of each era.
    ///
    /// - Parameters:
    ///   - top: the vertical position of the strip.
    ///   - bottom: the vertical position at which the lines end.
    func svg(_ scale: TimeScale, top: Double, bottom: Double) -> String {
        guard !beginnings.isEmpty else { return "" }
        var svg = ""
        let right = scale.left + scale.width
        var spans: [(name: String, start: Double, end: Double)] = []
        var start = scale.left
        for (index, name) in ([firstLabel] + beginnings.map(\.name)).enumerated() {
            let end =
                index < beginnings.count ? min(max(scale.position(of: beginnings[index].date), start), right) : right
            spans.append((name, start, end))
            start = end
        }
        for beginning in beginnings {
            guard let changeover = beginning.changeover?.window else { continue }
            let from = scale.position(of: beginning.date.addingTimeInterval(changeover.from))
            let until = scale.position(of: beginning.date.addingTimeInterval(changeover.until))
            // Use a minimum width: a window of a few days would be too thin to see.
            let (x, width) = (min(from, until - 3), max(3, until - from))
            guard x >= scale.left, x + width <= right else { continue }
            svg +=
                "<rect class=\"changeover\" x=\"\(x.svg)\" y=\"\((top + Self.stripHeight).svg)\" width=\"\(width.svg)\" height=\"\((bottom - top - Self.stripHeight).svg)\"><title>changeover window of \(beginning.name.htmlEscaped)</title></rect>"
        }
        for span in spans where span.end > span.start {
            svg +=
                "<rect class=\"eraSpan\" x=\"\(span.start.svg)\" y=\"\(top.svg)\" width=\"\((span.end - span.start).svg)\" height=\"\(Self.stripHeight.svg)\"><title>\(span.name.htmlEscaped)</title></rect>"
            // Write the name only if it fits into the span. A character is about 6.4 units wide.
            if Double(span.name.count) * 6.4 + 8 <= span.end - span.start {
                svg +=
                    "<text class=\"eraName\" text-anchor=\"middle\" x=\"\(((span.start + span.end) / 2).svg)\" y=\"\((top + 11).svg)\">\(span.name.htmlEscaped)</text>"
            }
        }
        for (beginning, span) in zip(beginnings, spans) where span.end > scale.left && span.end < right {
            let title = "\(beginning.name) begins on \(beginning.date.readable)"
            svg +=
                "<line class=\"era\" x1=\"\(span.end.svg)\" y1=\"\(top.svg)\" x2=\"\(span.end.svg)\" y2=\"\(bottom.svg)\"><title>\(title.htmlEscaped)</title></line>"
        }
        return svg
    }
}
