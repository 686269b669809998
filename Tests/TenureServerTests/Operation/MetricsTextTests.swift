import Crypto
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import SwiftASN1
import TenureAPI
import TenureCore
import TenureMint
import TenureStore
import Testing
import X509

@testable import TenureServer

@Suite struct `the text of the metrics` {
    private func lines(_ metrics: ServiceMetrics) async -> [String] {
        await MetricsSource.text(of: [MetricsSource(app: nil, metrics: metrics)]).split(separator: "\n")
            .map(String.init)
    }

    @Test func `each event changes only its own metric, under its own label`() async throws {
        let metrics = ServiceMetrics()
        for _ in 0..<2 { metrics.begin() }
        metrics.end(method: "GET", route: "/x", status: 404, seconds: 0.5)
        metrics.countSync(accepted: 3, rejected: ["wrongApp", "malformed", "wrongApp"])
        for type in ["REFUND", "REFUND", "FUTURE"] { metrics.countNotification(type: type) }
        metrics.register(endpoints: ["b", "a"])
        for result in [WebhookResult.failed, .givenUp, .givenUp] { metrics.countAttempt(webhookTo: "b", result) }
        for (number, phase) in [SlowClientPhase.head, .body, .response].enumerated() {
            for _ in 0...number { metrics.closedSlowClient(at: phase) }
        }
        for (number, phase) in [ConnectionPhase.response, .idle, .request].enumerated() {
            for _ in 0...number { metrics.closedForRoom(in: phase) }
        }
        for _ in 0..<3 { metrics.beganDownload() }
        metrics.endedDownload()
        for bytes in [7, 5] { metrics.sentDownload(bytes: bytes) }
        for rejection in [DownloadRejection.total, .customer, .total] { metrics.rejectedDownload(rejection) }
        metrics.setCertificateEnd(Date(timeIntervalSince1970: 1_800_000_000))

        let lines = await lines(metrics)
        let duration = "tenure_request_duration_seconds"
        let labels = #"method="GET",route="/x""#
        let bounds = [
            "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0",
            "+Inf",
        ]
        var expected = [
            "tenure_requests_in_flight 1", #"tenure_requests_total{\#(labels),status="404"} 1"#,
        ]
        for (index, bound) in bounds.enumerated() {
            expected.append(#"\#(duration)_bucket{\#(labels),le="\#(bound)"} \#(index < 8 ? 0 : 1)"#)
        }
        expected += [
            "\(duration)_sum{\(labels)} 0.5", "\(duration)_count{\(labels)} 1",
            "tenure_sync_artifacts_counted_total 3",
            #"tenure_sync_artifacts_rejected_total{code="malformed"} 1"#,
            #"tenure_sync_artifacts_rejected_total{code="wrongApp"} 2"#,
            #"tenure_notifications_total{type="REFUND"} 2"#, #"tenure_notifications_total{type="other"} 1"#,
            #"tenure_webhook_attempts_total{endpoint="a",result="delivered"} 0"#,
            #"tenure_webhook_attempts_total{endpoint="a",result="failed"} 0"#,
            #"tenure_webhook_attempts_total{endpoint="a",result="givenUp"} 0"#,
            #"tenure_webhook_attempts_total{endpoint="b",result="delivered"} 0"#,
            #"tenure_webhook_attempts_total{endpoint="b",result="failed"} 1"#,
            #"tenure_webhook_attempts_total{endpoint="b",result="givenUp"} 2"#,
            #"tenure_slow_clients_total{phase="body"} 2"#, #"tenure_slow_clients_total{phase="head"} 1"#,
            #"tenure_slow_clients_total{phase="response"} 3"#,
            #"tenure_connections_closed_for_room_total{phase="idle"} 2"#,
            #"tenure_connections_closed_for_room_total{phase="request"} 3"#,
            #"tenure_connections_closed_for_room_total{phase="response"} 1"#,
            "tenure_downloads_total 3", "tenure_downloads_in_progress 2", "tenure_download_bytes_total 12",
            #"tenure_downloads_rejected_total{reason="customer"} 1"#,
            #"tenure_downloads_rejected_total{reason="total"} 2"#,
            "tenure_certificate_expires_seconds 1800000000",
        ]
        // The values of the process depend on the other tests.
        let counted = lines.filter {
            !$0.hasPrefix("#") && !$0.hasPrefix("process_") && !$0.hasPrefix("tenure_bodies_dropped_total")
        }
        #expect(counted == expected)
        let types = lines.filter { $0.hasPrefix("# TYPE tenure_") }.map { $0.dropFirst("# TYPE tenure_".count) }
        #expect(
            types == [
                "requests_in_flight gauge", "requests_total counter", "request_duration_seconds histogram",
                "sync_artifacts_counted_total counter", "sync_artifacts_rejected_total counter",
                "notifications_total counter", "webhook_attempts_total counter", "slow_clients_total counter",
                "connections_closed_for_room_total counter", "bodies_dropped_total counter", "downloads_total counter",
                "downloads_in_progress gauge", "download_bytes_total counter", "downloads_rejected_total counter",
                "certificate_expires_seconds gauge",
            ])
    }

    @Test func `backslashes, quotes and line breaks in the label of a metric are escaped`() {
        #expect(PrometheusLabel("app", "a\\b\"c\nd").text == #"app="a\\b\"c\nd""#)
    }

    @Test func `metrics count each notification by its type, and each decision by its outcome and reason`()
        async throws
    {
        try await withService({ $0.metrics = .open }) { client in
            let admin = AdminClient(client: client, key: nil)
            _ = try await admin.newcomer()
            for id in ["704000000000000003", "704000000000000004"] { _ = try await admin.owner(id) }
            #expect(try await client.notify(try Calculator.minter().notification("TEST", uuid: "u1")).status == .ok)
            let lines = String(buffer: try await client.get("/metrics").body).split(separator: "\n").map(String.init)
            #expect(
                lines.filter { $0.hasPrefix("tenure_decisions_total") } == [
                    #"tenure_decisions_total{outcome="denied",reason="eraNotHonored"} 1"#,
                    #"tenure_decisions_total{outcome="granted",reason="eraHonored"} 2"#,
                ])
            #expect(
                lines.filter { $0.hasPrefix("tenure_notifications_total") } == [
                    #"tenure_notifications_total{type="TEST"} 1"#
                ])
            let sizes = lines.filter { $0.hasPrefix("tenure_database_bytes") }
            #expect(
                sizes.compactMap { $0.split(separator: " ").first } == [
                    #"tenure_database_bytes{file="database"}"#, #"tenure_database_bytes{file="log"}"#,
                ])
        }
    }

    /// Writes a self-signed certificate, and its key.
    private func write(_ files: CertificateFiles, until end: Date) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("test") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Calculator.now.addingTimeInterval(-3600), notValidAfter: end, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions { SubjectAlternativeNames([.dnsName("example.com")]) },
            issuerPrivateKey: .init(key))
        try writeSecret(certificate.serializeAsPEM().pemString, to: files.certificate)
        try writeSecret(key.pemRepresentation, to: files.key)
    }

    @Test func `after a reload, the metrics have the end of the new certificate, and of the old one if it failed`()
        async throws
    {
        try await withFolder { folder async throws in
            let files = CertificateFiles(certificate: folder + "/one.pem", key: folder + "/one.key")
            let (end, later) = (Date(timeIntervalSince1970: 1_900_000_000), Date(timeIntervalSince1970: 1_950_000_000))
            let metrics = ServiceMetrics()
            let log = LogLines()
            func reported() async -> [String] {
                await lines(metrics).filter { $0.hasPrefix("tenure_certificate_expires_seconds ") }
            }
            try write(files, until: end)
            let certificate = try ServerCertificate(files, now: { Calculator.now })
            #expect(await reported().isEmpty)
            certificate.report(to: metrics)
            #expect(await reported() == ["tenure_certificate_expires_seconds 1900000000"])
            try write(files, until: later)
            certificate.reload(metrics, log.logger(.info))
            #expect(await reported() == ["tenure_certificate_expires_seconds 1950000000"])
            #expect(log.texts.count == 1 && log.texts[0].contains(#""message":"reloaded the TLS certificate""#))

            try write(files, until: Calculator.now.addingTimeInterval(-1))
            certificate.reload(metrics, log.logger(.info))
            #expect(await reported() == ["tenure_certificate_expires_seconds 1950000000"])
            #expect(log.texts.count == 2 && log.texts[1].contains("the certificate has expired"), "\(log.texts)")
        }
    }

    @Test func `a TLS certificate is accepted until the second at which it expires`() async throws {
        try await withFolder { folder in
            let files = CertificateFiles(certificate: folder + "/one.pem", key: folder + "/one.key")
            let end = Date(timeIntervalSince1970: 1_900_000_000)
            try write(files, until: end)
            #expect(try files.contents(now: end).chain.first?.expiry == end)
            let expired = ServiceError.certificateFile(
                path: files.certificate, detail: "the certificate has expired; replace the file with a new one")
            #expect(throws: expired) { try files.contents(now: end.addingTimeInterval(1)) }
        }
    }

    @Test func `the start of the process in the metrics is the earliest start of its apps`() async throws {
        let first = ServiceMetrics()
        var second = ServiceMetrics()
        while second.startedAt <= first.startedAt { second = ServiceMetrics() }
        let sources = [MetricsSource(app: "b", metrics: second), MetricsSource(app: "a", metrics: first)]
        let line = await MetricsSource.text(of: sources).split(separator: "\n").first {
            $0.hasPrefix("process_start_time_seconds ")
        }
        let start = try #require(line?.split(separator: " ").last.flatMap { Double($0) })
        #expect(start == first.startedAt.timeIntervalSince1970)
    }
}
