import CommandRunner
import Foundation
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureMint
import Testing

@testable import TenureServer

/// The files that operators install in addition to the service: alert rules, a dashboard, and the page that lists the
/// metrics.
@Suite struct `monitoring files` {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL
    private static let promtool = root.appendingPathComponent(".tools/promtool").path
    private static let hasPromtool = FileManager.default.isExecutableFile(atPath: promtool)

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the names of the service's metrics in a text. A histogram is one metric.
    private func metrics(in text: String) -> Set<String> {
        let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }.map(String.init)
        let named = words.filter { $0.hasPrefix("tenure_") || $0.hasPrefix("process_") }
        return Set(named.map { $0.hasSuffix("_bucket") ? String($0.dropLast(7)) : $0 })
    }

    @Test func `the dashboard and alerts use only existing metrics, and monitoring.md lists all metrics`() throws {
        let all = Set(MetricName.allCases.map(\.rawValue))
        for path in ["Packaging/prometheus/tenure.rules.yml", "Packaging/grafana/tenure.json"] {
            #expect(metrics(in: try text(path)).subtracting(all) == [], "\(path)")
        }
        let page = try text("Docs/monitoring.md")
        #expect(metrics(in: page) == all)
    }

    @Test(.enabled(if: hasPromtool, "promtool isn't installed"))
    func `the alerts in Packaging pass promtool's checks and their tests`() throws {
        let folder = Self.root.appendingPathComponent("Packaging/prometheus").path
        let checked = try Tool.run(Self.promtool, ["check", "rules", folder + "/tenure.rules.yml"])
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        let tested = try Tool.run(Self.promtool, ["test", "rules", folder + "/tenure.rules.test.yml"])
        #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
        let rules = try text("Packaging/prometheus/tenure.rules.yml")
        let tests = try text("Packaging/prometheus/tenure.rules.test.yml")
        for line in rules.split(separator: "\n") where line.contains("- alert: ") {
            let name = try #require(line.split(separator: " ").last)
            #expect(tests.contains("alertname: \(name)"), "\(name) has no test")
        }
    }

    @Test(.enabled(if: hasPromtool, "promtool isn't installed"))
    func `the dashboard in Packaging has queries that promtool accepts`() throws {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Target: Decodable { let expr: String }
                let id: Int
                let title: String
                let targets: [Target]
            }
            let panels: [Panel]
        }
        let dashboard = try JSONDecoder().decode(
            Dashboard.self, from: Data(try text("Packaging/grafana/tenure.json").utf8))
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        var rules = "groups:\n  - name: dashboard\n    rules:\n"
        for (index, target) in dashboard.panels.flatMap(\.targets).enumerated() {
            let query = target.expr.replacingOccurrences(of: "$__rate_interval", with: "5m")
                .replacingOccurrences(of: "$app", with: ".*")
            rules += "      - record: query:\(index)\n        expr: '\(query)'\n"
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("dashboard-\(UUID()).yml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(rules.utf8).write(to: file)
        let checked = try Tool.run(Self.promtool, ["check", "rules", file.path])
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    }

    @Test(.enabled(if: hasPromtool, "promtool isn't installed"))
    func `promtool accepts the response of /metrics`() async throws {
        try await withService({ $0.metrics = .open }) { client in
            _ = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: ["rubbish"]))
            let response = try await client.get("/metrics")
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("metrics-\(UUID()).txt")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(buffer: response.body).write(to: file)
            let checked = try Tool.run(
                "/bin/sh", ["-c", "exec \"$0\" check metrics < \"$1\"", Self.promtool, file.path])
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        }
    }
}
