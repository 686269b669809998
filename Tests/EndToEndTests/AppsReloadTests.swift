import CommandRunner
import Foundation
import Testing

/// Apps that are added, changed and removed while the service runs.
@Suite struct AppsReloadTests {
    /// A service with apps in SQLite files, and the owner's admin key.
    private struct TestBed {
        let folder: Folder
        let key: String

        init() async throws {
            folder = try Folder()
            key = try folder.writeSecret(try await Self.adminKey(), to: "admin.key")
            for name in ["calculator", "notes"] { try write(Self.policy(name), to: "\(name).yaml") }
        }

        static func adminKey() async throws -> String {
            try await Command.run("admin-key", "generate").output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        static func policy(_ name: String, product: String = "everything") -> String {
            """
            app: { bundleID: com.example.\(name), appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { everything: { products: [com.example.\(name).\(product)] } }
            """
        }

        func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

        /// Writes the configuration with these lines below `apps`.
        @discardableResult func configure(_ apps: String..., port: String = "0") throws -> String {
            let lines = apps.map { "  \($0)\n" }.joined()
            return try folder.write("port: \(port)\nadminKeyFile: admin.key\napps:\n\(lines)", to: "tenure.yaml")
        }

        static let calculator = "calculator: { policy: calculator.yaml, database: calculator.sqlite }"
        static let notes = "notes: { policy: notes.yaml, database: notes.sqlite }"

        func start(_ more: String...) async throws -> (RunningCommand, SoakClient) {
            let service = try RunningCommand(["serve", "--config", folder.url("tenure.yaml").path] + more)
            return (service, SoakClient(port: try #require(try await service.port(), "\(service.errors)")))
        }

        func apps(_ command: String..., at client: SoakClient, key: String? = nil) async throws -> Command.Result {
            try await Command.run(
                ["apps"] + command
                    + ["--service", "http://127.0.0.1:\(client.port)", "--key-file", key ?? self.key])
        }
    }

    private func products(_ client: SoakClient) async -> String? { await products("", client) }

    /// Returns the ID of the first product, or the status code if the request fails.
    private func products(_ prefix: String, _ client: SoakClient) async -> String? {
        let (status, json) = await client.get(prefix + "/v1/products", token: "")
        guard status == 200 else { return "\(status)" }
        return ((json["products"] as? [[String: Any]])?.first?["id"] as? String) ?? "\(json)"
    }

    @Test func `with several apps, routes without an app's name lead to the default app`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.notes, TestBed.calculator, "default: calculator")
        let (service, client) = try await testBed.start()
        #expect(await products(client) == "com.example.calculator.everything")
        #expect(await products("/apps/calculator", client) == "com.example.calculator.everything")
        #expect(await products("/apps/notes", client) == "com.example.notes.everything")
        let (status, problem) = await client.get("/apps/other/v1/products", token: "")
        #expect(status == 404 && (problem["detail"] as? String)?.contains("/apps/NAME/") == true, "\(problem)")
        let listed = try await testBed.apps("list", at: client)
        #expect(
            listed.output == """
                notes       ok  com.example.notes
                calculator  ok  com.example.calculator  (default)

                """, "\(listed)")
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")

        try testBed.configure(TestBed.notes, TestBed.calculator, "default: other")
        let refused = try await Command.run("serve", "--config", testBed.folder.url("tenure.yaml").path)
        #expect(
            refused.status == 1 && refused.errors.contains("`default` names the unknown app `other`"),
            "\(refused.errors)")
    }

    @Test func `a reload adds an app without interrupting requests to the first app`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.calculator)
        let (service, client) = try await testBed.start()
        let answers = try await withThrowingTaskGroup(of: [String?].self) { group in
            for prefix in ["", "/apps/calculator"] {
                group.addTask {
                    var answers: [String?] = []
                    while !Task.isCancelled { answers.append(await products(prefix, client)) }
                    return answers
                }
            }
            try testBed.configure("default: calculator", TestBed.calculator, TestBed.notes)
            let reloaded = try await testBed.apps("reload", at: client)
            #expect(
                reloaded.status == 0 && reloaded.output.hasPrefix("added: notes\nreloaded: calculator\n"),
                "\(reloaded)")
            #expect(await products("/apps/notes", client) == "com.example.notes.everything")
            // SIGHUP reloads the configuration, too.
            try testBed.write(TestBed.policy("paint"), to: "paint.yaml")
            try testBed.configure(
                "default: calculator", TestBed.calculator, TestBed.notes,
                "paint: { policy: paint.yaml, database: paint.sqlite }")
            service.signal(SIGHUP)
            #expect(try await service.says(#"added"#))
            for _ in 0..<200 where await products("/apps/paint", client) == "404" {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(await products("/apps/paint", client) == "com.example.paint.everything", "\(service.errors)")
            group.cancelAll()
            return try await group.reduce(into: []) { $0 += $1.dropLast() }
        }
        #expect(answers.count > 20 && Set(answers) == ["com.example.calculator.everything"], "\(Set(answers))")
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
    }

    @Test func `a reload doesn't publish a policy file that was edited`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.calculator)
        let (service, client) = try await testBed.start()
        try testBed.write(TestBed.policy("calculator", product: "other"), to: "calculator.yaml")
        #expect(try await testBed.apps("reload", at: client).status == 0)
        #expect(await products(client) == "com.example.calculator.everything")
        #expect(try await service.says("the policy file isn't the policy in effect"), "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a reload of a configuration with a mistake changes nothing, and reports the mistake`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.calculator)
        let (service, client) = try await testBed.start()
        try testBed.write("app: { bundleID: com.example.broken }\neras: 3\n", to: "broken.yaml")
        let broken = "broken: { policy: broken.yaml, database: broken.sqlite }"
        func refusal(_ configure: () throws -> Void) async throws -> String {
            try configure()
            let result = try await testBed.apps("reload", at: client)
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(result.errors.contains("no app changed, because the configuration has mistakes"))
            return result.errors
        }
        var errors = try await refusal { try testBed.configure(TestBed.calculator, TestBed.notes, broken) }
        #expect(errors.contains("broken.yaml:"), "\(errors)")
        errors = try await refusal { try testBed.configure(TestBed.calculator, TestBed.notes, port: "1") }
        #expect(errors.contains("`port` changed, which needs a restart"), "\(errors)")
        errors = try await refusal {
            try testBed.configure("calculator: { policy: calculator.yaml, database: other.sqlite }", TestBed.notes)
        }
        #expect(errors.contains("`database` changed, which needs a restart"), "\(errors)")
        errors = try await refusal {
            try testBed.configure("calculator: { policy: notes.yaml, database: calculator.sqlite }", TestBed.notes)
        }
        #expect(errors.contains("the policy is for `com.example.notes`"), "\(errors)")
        errors = try await refusal { try testBed.write("policy: calculator.yaml\n", to: "tenure.yaml") }
        #expect(errors.contains("`apps` was removed"), "\(errors)")
        errors = try await refusal { try testBed.write("apps: [", to: "tenure.yaml") }
        #expect(errors.contains("isn't valid YAML"), "\(errors)")
        service.signal(SIGHUP)
        #expect(try await service.says("has mistakes; no app changed"), "\(service.errors)")

        #expect(await products(client) == "com.example.calculator.everything")
        #expect(await products("/apps/notes", client) == "404")
        #expect(!FileManager.default.fileExists(atPath: testBed.folder.url("notes.sqlite").path))
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a reload ignores --new-database, with which the service was started`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.calculator, TestBed.notes)
        let (first, _) = try await testBed.start()
        #expect(await first.end(by: SIGTERM) == 0, "\(first.errors)")
        for name in ["calculator", "notes"] {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(at: testBed.folder.url("\(name).sqlite\(suffix)"))
            }
        }
        try testBed.configure("default: calculator", TestBed.calculator)
        let (service, client) = try await testBed.start("--new-database")
        // The app's database isn't new anymore.
        let reloaded = try await testBed.apps("reload", at: client)
        #expect(reloaded.status == 0 && reloaded.output.hasPrefix("reloaded: calculator\n"), "\(reloaded)")
        // An app with a signing key isn't added without its database.
        try testBed.configure("default: calculator", TestBed.calculator, TestBed.notes)
        let refused = try await testBed.apps("reload", at: client)
        #expect(refused.status == 1 && refused.errors.contains("there is no database at"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: testBed.folder.url("notes.sqlite").path))
        #expect(await products(client) == "com.example.calculator.everything")
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
    }

    @Test func `a reload stops a removed app, and an app with another name can then use the removed app's database`()
        async throws
    {
        let testBed = try await TestBed()
        try testBed.configure("default: calculator", TestBed.calculator, TestBed.notes)
        let (service, client) = try await testBed.start()
        try testBed.configure("default: calculator", TestBed.calculator)
        var result = try await testBed.apps("reload", at: client)
        #expect(result.status == 0 && result.output.hasPrefix("removed: notes\n"), "\(result)")
        #expect(await products("/apps/notes", client) == "404")
        // The removed app closed its database, so the write-ahead log is empty.
        let log = try Data(contentsOf: testBed.folder.url("notes.sqlite-wal"))
        #expect(log.isEmpty)
        try testBed.configure(
            "default: calculator", TestBed.calculator,
            "pages: { policy: notes.yaml, database: notes.sqlite, keys: keys/notes }")
        result = try await testBed.apps("reload", at: client)
        #expect(result.status == 0 && result.output.hasPrefix("added: pages\n"), "\(result)")
        // One reload can also remove an app and add another app with the same database.
        try testBed.configure(
            "default: calculator", TestBed.calculator,
            "notes: { policy: notes.yaml, database: notes.sqlite }")
        result = try await testBed.apps("reload", at: client)
        #expect(result.status == 0 && result.output.hasPrefix("added: notes\nremoved: pages\n"), "\(result)")
        #expect(await products("/apps/notes", client) == "com.example.notes.everything")
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
    }

    // The reload request is itself one of the open requests that a shutdown waits for.
    @Test(.timeLimit(.minutes(2))) func `a reload that removes the first app doesn't wait for the shutdown timeout`()
        async throws
    {
        let testBed = try await TestBed()
        func configure(_ apps: String...) throws {
            let lines = apps.map { "  \($0)\n" }.joined()
            try testBed.write(
                "port: 0\nadminKeyFile: admin.key\ntimeouts: { shutdown: 300 }\napps:\n\(lines)", to: "tenure.yaml")
        }
        try configure(TestBed.calculator, TestBed.notes)
        let (service, client) = try await testBed.start()
        try configure(TestBed.notes)
        let result = try await testBed.apps("reload", at: client)
        #expect(result.status == 0 && result.output.contains("removed: calculator"), "\(result)")
        #expect(await products("/apps/notes", client) == "com.example.notes.everything")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    // If the backup opened the file outside of SQLite, closing it would drop SQLite's locks, and the backup would
    // remove the log.
    @Test func `a backup after a reload doesn't remove the write-ahead log of the service's database`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.calculator)
        let (service, client) = try await testBed.start()
        let database = testBed.folder.url("calculator.sqlite").path
        for number in 1...2 {
            #expect(try await testBed.apps("reload", at: client).status == 0)
            let backup = testBed.folder.url("backup-\(number).sqlite").path
            #expect(try await Command.run("database", "backup", backup, "--database", database).status == 0)
            #expect(FileManager.default.fileExists(atPath: database + "-wal"))
        }
        // This is longer than a readiness result is reused, and longer than the service takes to notice a missing log.
        try await Task.sleep(for: .milliseconds(2500))
        #expect(await client.get("/health/ready", token: "").0 == 200)
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(!service.errors.contains("while it was open"), "\(service.errors)")
    }

    @Test func `a reload reads each app's own admin keys and limits again`() async throws {
        let testBed = try await TestBed()
        let own = try await TestBed.adminKey()
        let ownFile = try testBed.folder.writeSecret(own, to: "notes.key")
        try testBed.configure(
            TestBed.calculator,
            "notes: { policy: notes.yaml, database: notes.sqlite, adminKeyFile: notes.key, limits: { bodySize: 1024 } }"
        )
        let (service, client) = try await testBed.start()
        let owner = try testBed.folder.text("admin.key")
        func status(_ prefix: String, _ key: String) async -> Int {
            await client.get(prefix + "/v1/admin/audit", token: key).0
        }
        #expect(await status("/apps/calculator", owner) == 200)
        #expect(await status("/apps/calculator", own) == 401)
        #expect(await status("/apps/notes", own) == 200)
        #expect(await status("/apps/notes", owner) == 401)
        let foreign = try await testBed.apps("list", at: client, key: ownFile)
        #expect(
            foreign.status == 1 && foreign.errors.contains("at the top level of the configuration"), "\(foreign.errors)"
        )
        let body = ["appTransaction": String(repeating: "a", count: 2000)]
        #expect(await client.post("/apps/notes/v1/sync", body).0 == 413)
        #expect(await client.post("/apps/calculator/v1/sync", body).0 == 422)

        let fresh = try await TestBed.adminKey()
        try testBed.folder.writeSecret(fresh, to: "notes.key")
        try testBed.configure(
            TestBed.calculator,
            """
            notes: { policy: notes.yaml, database: notes.sqlite, adminKeyFile: notes.key, \
            rateLimits: { perAddress: 1, addressBurst: 3 } }
            """)
        #expect(try await testBed.apps("reload", at: client).status == 0)
        #expect(await status("/apps/notes", own) == 401)
        #expect(await status("/apps/notes", fresh) == 200)
        #expect(await client.post("/apps/notes/v1/sync", body).0 == 422)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(await client.get("/apps/notes/v1/products", token: "").0) }
        #expect(statuses.contains(429), "\(statuses)")
        for _ in 0..<5 { #expect(await client.get("/apps/calculator/v1/products", token: "").0 == 200) }
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a reload adds an app even if its database can't be reached, and reports the reason`() async throws {
        let testBed = try await TestBed()
        try testBed.configure(TestBed.calculator)
        let (service, client) = try await testBed.start()
        try testBed.configure(
            "default: calculator", TestBed.calculator,
            "notes: { policy: notes.yaml, database: \"postgres://tenure:secret@127.0.0.1:1/none\" }")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: testBed.folder.url("tenure.yaml").path)
        let result = try await testBed.apps("reload", at: client)
        #expect(result.status == 1 && result.output.contains("notes       failing"), "\(result)")
        #expect(result.output.contains("appNotRunning") && !result.output.contains("secret"), "\(result.output)")
        let listed = try await testBed.apps("list", "--json", at: client)
        let apps = try #require(try listed.json()["apps"] as? [[String: Any]])
        #expect(apps.count == 2 && (apps[1]["detail"] as? String)?.contains("127.0.0.1") == true, "\(listed.output)")
        #expect(await products(client) == "com.example.calculator.everything")
        // The configuration of `notes` can change while `notes` doesn't run.
        try testBed.configure("default: calculator", TestBed.calculator, TestBed.notes)
        #expect(try await testBed.apps("reload", at: client).output.hasPrefix("reloaded: calculator, notes\n"))
        for _ in 0..<200 where await products("/apps/notes", client) == "503" {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await products("/apps/notes", client) == "com.example.notes.everything", "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
    }
}
