/// Writes Prometheus' text format 0.0.4.
struct PrometheusText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    enum Kind: String {
        case counter, gauge, histogram
    }

    /// One metric with its series, each with its labels in a fixed order.
    mutating func family(
        _ name: String, _ kind: Kind, _ help: String, _ series: [(labels: [(String, String)], value: String)]
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for (labels, value) in series { line(name, labels, value) }
    }

    mutating func family(_ name: String, _ kind: Kind, _ help: String, _ value: String) {
        family(name, kind, help, [([], value)])
    }

    mutating func histograms(
        _ name: String, _ help: String, bounds: [Double],
        _ series: [(labels: [(String, String)], histogram: ServiceMetrics.Histogram)]
    ) {
        family(name, .histogram, help, [])
        for (labels, histogram) in series {
            for (bound, count) in zip(bounds, histogram.buckets) {
                line(name + "_bucket", labels + [("le", "\(bound)")], "\(count)")
            }
            line(name + "_bucket", labels + [("le", "+Inf")], "\(histogram.count)")
            line(name + "_sum", labels, "\(histogram.sum)")
            line(name + "_count", labels, "\(histogram.count)")
        }
    }

    private mutating func line(_ name: String, _ labels: [(String, String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    private static func escaped(_ label: String) -> String {
        label.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}
