import CommandRunner
import Foundation
import PostgresServer
import Testing

/// Processes that share a database need the same keys.
@Suite struct `the keys of several processes` {
    private static let names = ["signing-key.json", "access-token.secret"]

    /// Two folders of keys for one PostgreSQL database.
    private func testBeds() throws -> (first: SoakTestBed, second: SoakTestBed) {
        let url = try PostgresServer.shared().url("schema=shared_\(UInt32.random(in: .min ... .max))")
        let first = try SoakTestBed(database: url)
        return (first, try SoakTestBed(database: url, authority: first.authority))
    }

    private func keys(in testBed: SoakTestBed) -> [String] {
        Self.names.filter { FileManager.default.fileExists(atPath: testBed.folder.url($0).path) }
    }

    private func copy(_ names: [String] = Self.names, from one: SoakTestBed, to other: SoakTestBed) throws {
        for name in names {
            try? FileManager.default.removeItem(at: other.folder.url(name))
            try FileManager.default.copyItem(at: one.folder.url(name), to: other.folder.url(name))
        }
    }

    private func signingKey(_ arguments: String..., in testBed: SoakTestBed) async throws -> Command.Result {
        let result = try await Command.run(["signing-key"] + arguments + ["--keys", testBed.folder.path])
        #expect(result.status == 0, "\(result.errors)")
        return result
    }

    /// Returns whether a sync gets an entitlement token.
    private func issues(_ testBed: SoakTestBed, at port: Int) async throws -> Bool {
        let (status, json) = await SoakClient(port: port).post(
            "/v1/sync",
            SoakClient.body(try testBed.appTransaction(of: "704000003000000001"), []))
        #expect(status == 200, "\(json)")
        return json["entitlementToken"] != nil
    }

    private func issues(_ testBed: SoakTestBed, at port: Int, becomes expected: Bool) async throws -> Bool {
        for _ in 0..<200 {
            if try await issues(testBed, at: port) == expected { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    /// Expects that a process signs tokens of personas and publishes its keys, or that it does neither of them.
    private func expectPersonas(of port: Int, areMade: Bool) async throws {
        let client = SoakClient(port: port)
        let name = "persona-\(port)"
        let (status, made) = await client.post(
            "/v1/admin/personas", ["name": name, "set": ["originalAppVersion": "37", "originalPlatform": "iOS"]],
            token: SoakTestBed.adminKey)
        let (keyStatus, keys) = await client.get("/.well-known/jwks.json", token: "")
        let (_, listed) = await client.get("/v1/admin/personas", token: SoakTestBed.adminKey)
        let names = (listed["personas"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
        #expect(names.contains(name) == areMade, "\(listed)")
        #expect((keys["keys"] != nil) == areMade)
        if areMade {
            #expect(status == 200 && keyStatus == 200, "\(made)")
        } else {
            #expect(status == 503 && made["reason"] as? String == "outdatedSigningKey", "\(made)")
            #expect(keyStatus == 503 && keys["reason"] as? String == "outdatedSigningKey", "\(keys)")
        }
    }

    /// Starts a service that must be refused, and returns why.
    private func refusal(_ testBed: SoakTestBed) async throws -> String {
        let service = try testBed.launch()
        #expect(try await service.port() == nil)
        #expect(await service.ended() == 1)
        return service.errors
    }

    @Test func `a second process without the database's keys doesn't start, and says where the keys are`() async throws
    {
        let (first, second) = try testBeds()
        let (service, _) = try await first.start()
        let errors = try await refusal(second)
        #expect(errors.contains("copy `signing-key.json` and `access-token.secret` from `"), "\(errors)")
        #expect(errors.contains(":\(first.folder.path)` to `\(second.folder.path)`"), "\(errors)")
        #expect(keys(in: second).isEmpty)
        // Copying one of the two files isn't enough.
        try copy(["signing-key.json"], from: first, to: second)
        #expect(try await refusal(second).contains("there is no `access-token.secret`"))
        #expect(keys(in: second) == ["signing-key.json"])
        try copy(from: first, to: second)
        let (other, port) = try await second.start()
        #expect(try await issues(second, at: port))
        for service in [service, other] { #expect(await service.end(by: SIGTERM) == 0) }
    }

    @Test(arguments: 0..<4)
    func `if two services start at once on a new database, only one service starts and keeps its keys`(
        round: Int
    ) async throws {
        let (first, second) = try testBeds()
        let services = [try first.launch(), try second.launch()]
        let ports = [try await services[0].port(), try await services[1].port()]
        #expect(ports.compactMap(\.self).count == 1, "\(services.map(\.errors))")
        let testBeds = [first, second]
        for (testBed, (service, port)) in zip(testBeds, zip(services, ports)) {
            #expect(keys(in: testBed) == (port == nil ? [] : Self.names))
            if port == nil { #expect(service.errors.contains("copy `signing-key.json`"), "\(service.errors)") }
        }
        for (service, port) in zip(services, ports) where port != nil {
            #expect(await service.end(by: SIGTERM) == 0)
        }
    }

    @Test func `after a rotation, a process with the older signing key issues no entitlement tokens`() async throws {
        let (first, second) = try testBeds()
        let (one, onePort) = try await first.start()
        try copy(from: first, to: second)
        let (two, twoPort) = try await second.start()
        #expect(try await issues(second, at: twoPort))
        _ = try await signingKey("rotate", in: first)
        #expect(try await issues(second, at: twoPort, becomes: false))
        #expect(try await two.says("another process has a newer signing key"), "\(two.errors)")
        #expect(try await issues(first, at: onePort))
        try await expectPersonas(of: twoPort, areMade: false)
        try await expectPersonas(of: onePort, areMade: true)
        // A third process with the older key doesn't start.
        let third = try SoakTestBed(database: first.database, authority: first.authority)
        try copy(from: second, to: third)
        #expect(try await refusal(third).contains("aren't those of the database's other processes"))
        try copy(from: first, to: second)
        #expect(try await issues(second, at: twoPort, becomes: true))
        #expect(try await issues(first, at: onePort))
        try await expectPersonas(of: twoPort, areMade: true)
        for service in [one, two] { #expect(await service.end(by: SIGTERM) == 0) }
    }

    @Test func `a service starts with the key that replaced its revoked key, but not with an unrelated key`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let key = try await signingKey("list", in: testBed).output.prefix(43)
        _ = try await signingKey("revoke", String(key), in: testBed)
        #expect(try await issues(testBed, at: port, becomes: true))
        #expect(await service.end(by: SIGTERM) == 0)
        let (again, _) = try await testBed.start()
        #expect(await again.end(by: SIGTERM) == 0)

        let stranger = try SoakTestBed()
        let (other, _) = try await stranger.start()
        #expect(await other.end(by: SIGTERM) == 0)
        try copy(["signing-key.json"], from: stranger, to: testBed)
        #expect(try await refusal(testBed).contains("aren't those of the database's other processes"))
        #expect(keys(in: testBed) == Self.names)
        let accepted = try await testBed.databaseCommand("accept-keys")
        let start = "the next service that starts may replace the keys from `"
        #expect(accepted.status == 0 && accepted.output.hasPrefix(start), "\(accepted)")
        #expect(accepted.output.hasSuffix(":\(testBed.folder.path)`\n") && accepted.errors.isEmpty, "\(accepted)")
        let repeated = try await testBed.databaseCommand("accept-keys")
        let words = "has no fingerprints of keys; the next service that starts stores those of its keys"
        #expect(repeated.status == 1 && repeated.errors == "error: `\(testBed.database)` \(words)\n", "\(repeated)")
        let (last, lastPort) = try await testBed.start()
        #expect(try await issues(testBed, at: lastPort))
        #expect(await last.end(by: SIGTERM) == 0)
    }

    // This also works while the service runs, if the rotation and the revocation happen before it compares the keys.
    @Test func `a service starts after its signing key was rotated and the new key was revoked`() async throws {
        let testBed = try SoakTestBed()
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        _ = try await signingKey("rotate", in: testBed)
        let lines = try await signingKey("list", in: testBed).output.split(separator: "\n")
        let key = try #require(lines.first { $0.hasSuffix("  in use") }?.prefix(43))
        _ = try await signingKey("revoke", String(key), in: testBed)
        let (again, port) = try await testBed.start()
        #expect(try await issues(testBed, at: port))
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `a second process may use another signing key if one offline root signed both keys`() async throws {
        let (first, second) = try testBeds()
        let (service, _) = try await first.start()
        // Another service creates a key that isn't related to the first service's key. The newer
        // key must be a second newer, because keys are dated in whole seconds.
        try await Task.sleep(for: .seconds(1))
        let stranger = try SoakTestBed()
        let (other, _) = try await stranger.start()
        #expect(await other.end(by: SIGTERM) == 0)
        try copy(["signing-key.json"], from: stranger, to: second)
        try copy(["access-token.secret"], from: first, to: second)
        let root = first.folder.url("root.json").path
        let pinned = try first.folder.write(
            try await Command.run("signing-key", "root", "create", root).output, to: "root-public.json")
        for testBed in [first, second] {
            let listed = try await signingKey("list", in: testBed).output
            let key = try testBed.folder.write(String(listed.split(separator: "\n").last ?? ""), to: "key.json")
            let signed = try await Command.run("signing-key", "root", "sign", root, "--key", key, "--days", "90")
            let statement = try testBed.folder.write(signed.output, to: "statement.jwt")
            if testBed.folder.path == second.folder.path {
                #expect(try await refusal(second).contains("aren't those of the database's other processes"))
            }
            _ = try await signingKey("install", statement, "--root", pinned, in: testBed)
            // The running service stores the root.
            try await Task.sleep(for: .seconds(3))
        }
        let (successor, port) = try await second.start()
        #expect(try await issues(second, at: port))
        // The first service has the older key now.
        #expect(try await service.says("another process has a newer signing key"), "\(service.errors)")
        for service in [service, successor] { #expect(await service.end(by: SIGTERM) == 0) }
        // Although the same root signed it, the first service's older key is refused at its next start, too.
        #expect(try await refusal(first).contains("aren't those of the database's other processes"))
    }

    @Test func `an app with another app's signing key doesn't start, and the service's other app does`() async throws {
        let folder = try Folder()
        for name in ["calculator", "notes"] {
            try folder.write(
                """
                app: { bundleID: com.example.\(name), appleID: 828838134 }
                eras: [{ name: free, model: free }]
                entitlements: { everything: { products: [com.example.\(name).everything] } }
                """, to: "\(name).yaml")
        }
        let config = try folder.write(
            """
            port: 0
            apps:
              calculator: { policy: calculator.yaml, database: calculator.sqlite }
              notes: { policy: notes.yaml, database: notes.sqlite }
            """, to: "tenure.yaml")
        let first = try RunningCommand(["serve", "--config", config])
        _ = try #require(try await first.port(), "\(first.errors)")
        #expect(await first.end(by: SIGTERM) == 0)
        let (own, other) = (folder.url("keys/notes/signing-key.json"), folder.url("keys/calculator/signing-key.json"))
        let kept = try Data(contentsOf: own)
        try FileManager.default.removeItem(at: own)
        try FileManager.default.copyItem(at: other, to: own)

        let service = try RunningCommand(["serve", "--config", config])
        let client = SoakClient(port: try #require(try await service.port(), "\(service.errors)"))
        #expect(await client.get("/apps/calculator/v1/products", token: "").0 == 200)
        for path in ["/apps/notes/v1/products", "/apps/notes/health/ready"] {
            let (status, problem) = await client.get(path, token: "")
            #expect(status == 503 && problem["reason"] as? String == "otherKeys", "\(problem)")
        }
        let apps = await client.get("/health/ready", token: "").1["apps"] as? [String: [String: String]]
        #expect(apps?["notes"]?["reason"] == "otherKeys")
        try kept.write(to: own)
        for _ in 0..<200 where await client.get("/apps/notes/v1/products", token: "").0 != 200 {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await client.get("/apps/notes/v1/products", token: "").0 == 200, "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0)
    }
}
