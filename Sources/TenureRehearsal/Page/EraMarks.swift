import Foundation
import TenureCore

/// Where the eras of a policy begin, drawn over a chart in time: a line for each instant, a band for each changeover
/// window, and the era's name once.
struct EraMarks {
    private struct Mark {
        let era: String
        let dates: [(date: Date, platforms: [String])]
        let window: (from: TimeInterval, until: TimeInterval)?
    }

    private let marks: [Mark]
    /// Changes that have no instant, and so no place in time.
    let undated: [String]

    init(of policy: Policy) {
        var marks: [Mark] = []
        var undated: [String] = []
        for era in policy.eras.dropFirst() {
            var byDate: [Date: [String]] = [:]
            for (platform, beginning) in era.begins {
                if let date = beginning.date { byDate[date, default: []].append(platform.rawValue) }
            }
            if byDate.isEmpty {
                undated.append(era.name)
                continue
            }
            marks.append(
                Mark(
                    era: era.name, dates: byDate.map { ($0.key, $0.value.sorted()) }.sorted { $0.0 < $1.0 },
                    window: era.changeover?.window))
        }
        self.marks = marks
        self.undated = undated
    }

    var dates: [Date] { marks.flatMap { $0.dates.map(\.date) } }
    var hasChangeover: Bool { marks.contains { $0.window != nil } }

    /// How many rows of names stand above the chart.
    var rows: Int { min(marks.count, 3) }
    static let rowHeight = 15.0

    /// `top`: where the chart begins, below the names.
    func svg(_ scale: TimeScale, top: Double, bottom: Double) -> String {
        var svg = ""
        for mark in marks {
            guard let window = mark.window else { continue }
            for (date, _) in mark.dates {
                guard let x = scale.x(date) else { continue }
                let start = scale.x(date.addingTimeInterval(window.from)) ?? x
                let end = scale.x(date.addingTimeInterval(window.until)) ?? x
                // A window of days is thin among years, and has to be seen.
                let width = max(5, end - start)
                svg +=
                    "<rect class=\"changeover\" x=\"\((min(start, x - 2)).svg)\" y=\"\(top.svg)\" width=\"\(width.svg)\" height=\"\((bottom - top).svg)\"><title>changeover window of \(mark.era.htmlEscaped)</title></rect>"
            }
        }
        var names = ""
        for (index, mark) in marks.enumerated() {
            let row = Double(index % max(1, rows))
            let y = top - 5 - Double(Self.rowHeight) * (Double(rows - 1) - row)
            var isNamed = false
            for (date, platforms) in mark.dates {
                guard let x = scale.x(date) else { continue }
                let title = "\(mark.era) begins on \(platforms.joined(separator: ", ")) at \(date.rfc3339)"
                svg +=
                    "<line class=\"era\" x1=\"\(x.svg)\" y1=\"\((y + 2).svg)\" x2=\"\(x.svg)\" y2=\"\(bottom.svg)\"><title>\(title.htmlEscaped)</title></line>"
                guard !isNamed else { continue }
                isNamed = true
                let isFarRight = x > scale.left + scale.width * 0.75
                let text = "\(mark.era) \(CivilDay(of: date))"
                names +=
                    "<text class=\"eraName\" x=\"\((isFarRight ? x - 4 : x + 4).svg)\" y=\"\(y.svg)\"\(isFarRight ? " text-anchor=\"end\"" : "")>\(text.htmlEscaped)</text>"
            }
        }
        // Over all lines, with a rim around them.
        return svg + names
    }
}
