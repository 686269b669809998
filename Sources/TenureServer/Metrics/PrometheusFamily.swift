/// One metric with all its series, as the response to `GET /metrics` shows it in Prometheus' text format.
struct PrometheusFamily: Sendable {
    /// The media type of the response.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The type of a metric.
    enum Kind: String, Sendable { case counter, gauge, histogram }

    /// The value of a series.
    enum Value: Sendable {
        case number(Double)
        case histogram(PrometheusHistogram.Counts)
    }

    /// The value for one combination of labels.
    struct Series: Sendable {
        var labels: [PrometheusLabel]
        let value: Value
    }

    let name: String
    let kind: Kind
    var series: [Series] = []

    /// Sorts the series by the values of their labels.
    mutating func sort() {
        series.sort { one, other in
            one.labels.map(\.value).lexicographicallyPrecedes(other.labels.map(\.value))
        }
    }

    /// Returns the lines of the metric in the response of `/metrics`.
    func text(help: String) -> String {
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for series in series {
            switch series.value {
            case .number(let number): text += line("", series.labels, Self.text(of: number))
            case .histogram(let counts):
                for (bound, count) in zip(PrometheusHistogram.bounds, counts.buckets) {
                    text += line("_bucket", series.labels + [PrometheusLabel("le", "\(bound)")], "\(count)")
                }
                text += line("_bucket", series.labels + [PrometheusLabel("le", "+Inf")], "\(counts.count)")
                text += line("_sum", series.labels, "\(counts.sum)")
                text += line("_count", series.labels, "\(counts.count)")
            }
        }
        return text
    }

    private func line(_ suffix: String, _ labels: [PrometheusLabel], _ value: String) -> String {
        let list = labels.isEmpty ? "" : "{" + labels.map(\.text).joined(separator: ",") + "}"
        return "\(name)\(suffix)\(list) \(value)\n"
    }

    private static func text(of number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}

/// A label of a series, and its value.
struct PrometheusLabel: Hashable, Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The label in the response, such as `method="GET"`.
    var text: String {
        let escaped = value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return "\(name)=\"\(escaped)\""
    }
}
