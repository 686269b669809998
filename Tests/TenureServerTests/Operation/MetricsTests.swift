import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureMint
import Testing

@testable import TenureServer

@Suite struct metrics {
    private func reported(_ client: Client) async throws -> [String: Double] {
        let response = try await client.get("/metrics")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        return try Self.parsed(String(buffer: response.body))
    }

    /// Returns all series of a response; fails if a line isn't in the format.
    private static func parsed(_ text: String) throws -> [String: Double] {
        var series: [String: Double] = [:]
        var typed: Set<Substring> = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                typed.insert(line.split(separator: " ")[2])
            } else if !line.hasPrefix("# HELP ") {
                let end = try #require(line.lastIndex(of: " "))
                let name = line[..<(line.firstIndex(of: "{") ?? end)]
                let family =
                    ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) && !typed.contains(name) }
                    .map { name.dropLast($0.count) } ?? name
                #expect(typed.contains(family))
                #expect(
                    series.updateValue(
                        try #require(Double(line[line.index(after: end)...])), forKey: String(line[..<end])) == nil)
            }
        }
        #expect(text.hasSuffix("\n"))
        return series
    }

    @Test func `metrics count requests, accepted and rejected artifacts, and decisions`() async throws {
        try await withService({ $0.metrics = .open }) { client in
            let owner = SyncRequest(
                appTransaction: try Calculator.minter().text(.appTransaction), transactions: ["rubbish"])
            let token = try #require(try await client.sync(owner).accessToken?.value)
            _ = try await client.customer(token)
            _ = try await client.refused(SyncRequest(appTransaction: "x"))
            let reported = try await self.reported(client)
            #expect(reported[#"tenure_requests_total{method="POST",route="/v1/sync",status="200"}"#] == 1)
            #expect(reported[#"tenure_requests_total{method="POST",route="/v1/sync",status="422"}"#] == 1)
            #expect(reported[#"tenure_requests_total{method="GET",route="/v1/customer",status="200"}"#] == 1)
            #expect(reported[#"tenure_request_duration_seconds_count{method="POST",route="/v1/sync"}"#] == 2)
            #expect(reported[#"tenure_request_duration_seconds_bucket{method="POST",route="/v1/sync",le="+Inf"}"#] == 2)
            #expect(reported["tenure_requests_in_flight"] == 1, "the request for the metrics")
            #expect(reported["tenure_sync_artifacts_counted_total"] == 1)
            #expect(reported[#"tenure_sync_artifacts_rejected_total{code="malformed"}"#] == 2)
            #expect(reported[#"tenure_decisions_total{outcome="granted",reason="eraHonored"}"#] == 2)
            #expect(!reported.keys.contains { $0.hasPrefix(#"tenure_decisions_total{outcome="denied""#) })
            #expect(try #require(reported["process_start_time_seconds"]) > 1_700_000_000)
            #expect(try #require(reported[#"tenure_database_bytes{file="database"}"#]) > 0)
        }
    }

    @Test func `metrics count a notification once, however often the App Store repeats it`() async throws {
        try await withService({ $0.metrics = .open }) { client in
            let jws = try Calculator.minter().text(.notification)
            for _ in 0..<3 { #expect(try await client.notify(jws).status == .ok) }
            let counts = try await reported(client).filter { $0.key.hasPrefix("tenure_notifications_total") }
            #expect(counts.values.reduce(0, +) == 1, "\(counts)")
        }
    }

    @Test func `unknown paths and methods add only a few series to the metrics`() async throws {
        try await withService({ $0.metrics = .open }) { client in
            let before = try await self.reported(client)
            for index in 0..<200 {
                _ = try await client.get("/\(UUID().uuidString)/\(index)?\(index)", token: UUID().uuidString)
                let method = try #require(HTTPRequest.Method("M\(index)"))
                _ = try await client.http.execute(uri: "/v1/sync", method: method) { $0 }
            }
            let after = try await self.reported(client)
            // Unknown routes share one label, with two methods and two statuses at most; each combination is a
            // histogram.
            #expect(after.count - before.count < 80)
            #expect(after[#"tenure_requests_total{method="GET",route="none",status="404"}"#] == 200)
        }
    }

    @Test func `each bucket of a metrics histogram includes the counts of the smaller buckets`() {
        let metrics = ServiceMetrics()
        for seconds in [0.0005, 0.001, 0.3, 20] {
            metrics.begin()
            metrics.end(method: "GET", route: "/x", status: 200, seconds: seconds)
        }
        let histogram = PrometheusHistogram()
        for seconds in [0.0005, 0.001, 0.3, 20] { histogram.record(seconds) }
        #expect(histogram.counts.buckets == [2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3])
        #expect(histogram.counts.count == 4 && abs(histogram.counts.sum - 20.3015) < 1e-9)
        #expect(metrics.requestsInFlight == 0)
    }

    @Test func `metrics are served to this machine, and to other machines only with the admin key`() async throws {
        let key = AdminClient.adminKey
        try await withService({ $0.adminKey = key }) { client in
            // A client without a socket isn't local.
            let refused = try client.problem(try await client.get("/metrics"))
            #expect(refused.code == .notAuthenticated)
            #expect(try await client.get("/metrics", token: key + "k").status == .unauthorized)
            #expect(try await client.get("/metrics", token: key).status == .ok)
        }
        try await withLiveService { client, _ in
            #expect(try await client.get("/metrics").status == .ok)
            let field = try #require(HTTPField.Name("X-Forwarded-For"))
            let passedOn = try await client.http.execute(uri: "/metrics", method: .get, headers: [field: "1.1.1.1"]) {
                $0
            }
            #expect(passedOn.status == .unauthorized)
        }
        try await withService({ $0.metrics = .off }) { client in
            let response = try await client.get("/metrics")
            #expect(response.status == .notFound)
        }
    }

    @Test func `metrics count the accepted artifacts of every kind, without the rejected ones`() async throws {
        try await withService({ $0.metrics = .open }) { client in
            let minter = Calculator.minter()
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction),
                    transactions: [try minter.text(.transaction), "x"],
                    renewalInfos: [try minter.text(.renewalInfo)], receipt: "AAAA"))
            #expect(answer.problems.map(\.code) == ["malformed", "malformed", "noTransaction"])
            let reported = try await self.reported(client)
            #expect(reported["tenure_sync_artifacts_counted_total"] == 2)
            #expect(reported[#"tenure_sync_artifacts_rejected_total{code="malformed"}"#] == 2)
            #expect(reported[#"tenure_sync_artifacts_rejected_total{code="noTransaction"}"#] == 1)
        }
    }
}
