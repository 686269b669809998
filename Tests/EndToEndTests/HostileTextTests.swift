import CommandRunner
import Foundation
import PostgresServer
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

/// Untrusted text that is meant to mislead readers or to harm the database.
@Suite(.serialized) struct `hostile text` {
    private static let evil = "a\u{202E}b\u{1B}[31mc\u{9B}d\u{2066}e\u{200B}f\u{E0041}g\u{AD}h"

    private func expectVisible(_ text: String, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let hidden = text.unicodeScalars.filter { $0.isHidden && $0 != "\n" }
        #expect(
            hidden.isEmpty, "\(what): \(hidden.map { String($0.value, radix: 16) })", sourceLocation: sourceLocation)
    }

    @Test func `hostile text in any input is escaped on the terminal, in logs and reports`() async throws {
        let testBed = try SoakTestBed()
        let folder = testBed.folder
        let artifact = try testBed.text(.appTransaction, ["originalApplicationVersion": .string(Self.evil)])
        let file = try folder.write(artifact, to: "artifact.jws")
        let trust = ["--trust", folder.url("authority").path]
        let policy = try folder.write(
            try folder.text("policy.yaml").replacingOccurrences(of: "everything", with: "\"ev\u{202E}ery\""),
            to: "evil.yaml")
        for arguments in [
            ["inspect", file] + trust, ["inspect", file, "--json"] + trust, ["policy", "check", policy],
            ["policy", "check", policy, "--json"],
            ["decide", file, "--policy", folder.url("policy.yaml").path] + trust,
            ["inspect", "no\u{202E}such\u{1B}[31mfile"], ["insp\u{202E}ect"], ["serve", "--po\u{202E}rt", "1"],
            ["policy", "check", folder.url("x\u{202E}").path],
        ] {
            let result = try await Command.run(arguments)
            expectVisible(result.output, "\(arguments)")
            expectVisible(result.errors, "\(arguments)")
        }
        let shown = try await Command.run(["inspect", file] + trust)
        #expect(shown.output.contains("a\\u{202E}b\\u{1B}[31mc"), "\(shown.output)\(shown.errors)")

        // Reports take customers' names from the evidence.
        let line = #"{"id":"x\u202ey\u001b[31m","appTransaction":"\#(artifact)","transactions":[]}"#
        let evidence = try folder.write(line + "\n" + #"{"\#u{202E}":1}"# + "\n", to: "evidence.ndjson")
        let rehearsal =
            [
                "rehearse", "--policy", folder.url("policy.yaml").path, "--evidence", evidence, "--identify",
                "--report",
                folder.url("report.html").path, "--rejected", folder.url("rejected.ndjson").path,
            ] + trust
        for more in [[], ["--json"]] {
            let result = try await Command.run(rehearsal + more)
            expectVisible(result.output, "rehearse \(more)")
            expectVisible(result.errors, "rehearse \(more)")
        }
        expectVisible(try folder.text("report.html"), "the report")
        expectVisible(try folder.text("rejected.ndjson"), "the rejected lines")

        for format in ["text", "json"] {
            let service = try RunningCommand(
                [
                    "serve", "--policy", folder.url("policy.yaml").path, "--database",
                    folder.url("\(format).sqlite").path,
                    "--new-database", "--port", "0", "--log-format", format, "--log-level", "trace",
                ],
                environment: ["TENURE_A\u{202E}\u{1B}[31m": "1"])
            _ = try #require(try await service.port(), "\(service.errors)")
            #expect(await service.end(by: SIGTERM) == 0)
            expectVisible(service.errors, format)
            #expect(service.errors.lowercased().contains("202e"), "\(service.errors)")
        }
    }

    @Test(arguments: [false, true])
    func `hostile text is escaped in a dump of the database`(onPostgres: Bool) async throws {
        let database = try onPostgres ? PostgresServer.shared().url("schema=hostile_dump") : nil
        let testBed = try SoakTestBed(database: database)
        let (service, port) = try await testBed.start()
        let client = SoakClient(port: port)
        let artifact = try testBed.appTransaction(of: "704000000000000001")
        let (_, customer) = await client.post("/v1/sync", SoakClient.body(artifact, []))
        let (status, answer) = await client.post(
            "/v1/admin/customers/\(try #require(customer["id"] as? String))/grants",
            ["entitlement": "studio", "reason": "a\u{202E}b\u{2066}c\u{85}d"], token: SoakTestBed.adminKey)
        #expect(status < 300, "\(answer)")
        #expect(await service.end(by: SIGTERM) == 0)
        let dump = try await testBed.databaseCommand("dump")
        #expect(dump.status == 0, "\(dump.errors)")
        expectVisible(dump.output, "the dump")
        #expect(dump.output.contains(#"a\u202eb\u2066c\u0085d"#))
    }

    @Test(arguments: [false, true])
    func `hostile text with a NUL character gets status 400, or status 422 inside a signed artifact`(onPostgres: Bool)
        async throws
    {
        let database = try onPostgres ? PostgresServer.shared().url("schema=nul") : nil
        let testBed = try SoakTestBed(database: database)
        let (service, port) = try await testBed.start()
        let client = SoakClient(port: port)
        let nul = "\u{0}"
        for (path, body) in [
            ("/v1/sync", ["receipt": "a\(nul)"]), ("/v1/sync", ["appTransaction": "x", "nonce": nul]),
            ("/v1/link", ["userID": "a\(nul)b", "appTransaction": "x"]), ("/v1/admin/personas", ["name": "a\(nul)b"]),
            ("/v1/admin/customers/find", ["artifact": "a\(nul)b"]), ("/v1/admin/policies", ["policy": "a\(nul)b"]),
            ("/v1/admin/customers/cus_x/grants", ["entitlement": "e\(nul)", "reason": "r"]),
        ] {
            #expect(await client.post(path, body, token: SoakTestBed.adminKey).0 == 400, "\(path)")
        }
        for path in ["/v1/admin/customers?id=a%00b", "/v1/admin/customers/a%00", "/v1/admin/audit?customer=%00"] {
            #expect(await client.get(path, token: SoakTestBed.adminKey).0 == 400, "\(path)")
        }
        let policy = try testBed.folder.text("policy.yaml").replacingOccurrences(of: "everything", with: "\"e\\0e\"")
        let (status, answer) = await client.post(
            "/v1/admin/policies", ["policy": policy, "reason": "r"], token: SoakTestBed.adminKey)
        #expect(status == 400 && "\(answer)".contains("NUL"), "\(answer)")
        // The NUL is in a signed artifact, although the App Store never signs one.
        for field in ["originalApplicationVersion", "appTransactionId", "originalPlatform"] {
            let artifact = try testBed.text(.appTransaction, [field: .string("1\(nul)2")])
            #expect(await client.post("/v1/sync", ["appTransaction": artifact]).0 == 422, "\(field)")
        }
        let transaction = try testBed.text(.transaction, ["productId": .string("a\(nul)b")])
        #expect(await client.post("/v1/sync", ["transactions": [transaction]]).0 == 422)
        #expect(await service.end(by: SIGTERM) == 0)
    }
}
