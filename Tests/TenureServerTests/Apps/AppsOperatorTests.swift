import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import TenureAPI
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// Returns the configuration of one of several apps, with its own folder in `folder`.
func configuredApp(_ name: String, bundleID: String, in folder: String) throws -> AppConfiguration {
    let calculator = try Calculator.policy()
    let policy = try Policy(
        app: Policy.App(bundleID: bundleID, appleID: 828_838_134), eras: calculator.eras,
        buildNumbers: .increasing, entitlements: calculator.entitlements)
    let own = folder + "/" + name
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
    return AppConfiguration(name: name, configuration: try Calculator.configuration(own, policy: policy))
}

/// The routes about all apps, which need the admin key at the top level of the configuration.
@Suite struct `the operator's routes of several apps` {
    /// Runs a service with one app that runs and one that can't start, and with an admin key at the top level.
    private func withFailingApp(
        because reason: String = "the database can't be opened",
        _ body: @escaping @Sendable (Client, _ key: String) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let key = KeySecret().text
            var calculator = try configuredApp("calculator", bundleID: "com.example.calculator", in: folder)
            calculator.configuration.adminKey = key
            var notes = try configuredApp("notes", bundleID: "com.example.notes", in: folder)
            notes.openStore = { _ in throw ServiceError.failed(reason) }
            let application = try await buildApplication(
                AppsConfiguration([calculator, notes]), logger: Calculator.logger)
            try await application.test(.router) { try await body(Client(http: $0), key) }
        }
    }

    @Test func `only the operator of several apps sees why one of them can't start`() async throws {
        try await withFailingApp { client, key in
            let ready = try await client.get("/health/ready")
            let text = String(buffer: ready.body)
            let health = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            #expect(ready.status == .ok && health?["status"] as? String == "ok", "\(text)")
            #expect(
                health?["apps"] as? [String: [String: String]] == [
                    "calculator": ["status": "ok"], "notes": ["status": "failing", "reason": "appNotRunning"],
                ])
            #expect(!text.contains("can't be opened"))
            let list = try await client.get("/v1/admin/apps", token: key)
            let answer = try JSONDecoder().decode(AppsAnswer.self, from: Data(buffer: list.body))
            let expected = [
                AppsAnswer.App(
                    name: "calculator", bundleID: "com.example.calculator", status: "ok", reason: nil, detail: nil),
                AppsAnswer.App(
                    name: "notes", bundleID: "com.example.notes", status: "failing", reason: "appNotRunning",
                    detail: "the service failed: the database can't be opened"),
            ]
            #expect(answer.apps == expected && answer.default == nil && answer.added == nil)
        }
    }

    @Test func `the list of apps hides the credentials in the reason why an app can't start`() async throws {
        try await withFailingApp(because: "there is no database at postgres://ada:secret@db/shop") { client, key in
            let list = try await client.get("/v1/admin/apps", token: key)
            let answer = try JSONDecoder().decode(AppsAnswer.self, from: Data(buffer: list.body))
            #expect(answer.apps.map(\.reason) == [nil, "appNotRunning"])
            #expect(
                answer.apps.last?.detail
                    == "the service failed: there is no database at postgres://<redacted>@db/shop")
        }
    }

    @Test func `the log entry of a request to one of several apps has the app's name`() async throws {
        try await withFolder { folder in
            let apps = try ["calculator", "notes"].map {
                try configuredApp($0, bundleID: "com.example.\($0)", in: folder)
            }
            let lines = LogLines()
            let application = try await buildApplication(AppsConfiguration(apps), logger: lines.logger(.info))
            try await application.test(.router) { http in
                for path in ["/apps/notes/v1/products", "/nowhere", "/apps/calculator/v1/products"] {
                    _ = try await Client(http: http).get(path)
                }
            }
            let entries = try lines.texts.compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            let requests = entries.filter { $0["message"] as? String == "request" }
            #expect(requests.map { $0["app"] as? String } == ["notes", nil, "calculator"])
            #expect(requests.map { $0["route"] as? String } == ["/v1/products", "none", "/v1/products"])
        }
    }

    @Test func `if no app is ready, the response names the reason of each app`() async throws {
        try await withFolder { folder in
            let opened = Locked<Store?>(nil)
            var calculator = try configuredApp("calculator", bundleID: "com.example.calculator", in: folder)
            calculator.openStore = { configuration in
                let store = try TenureService.openStore(configuration)
                opened.withLock { $0 = store }
                return store
            }
            var notes = try configuredApp("notes", bundleID: "com.example.notes", in: folder)
            notes.openStore = { _ in throw ServiceError.failed("the database can't be opened") }
            let log = LogLines()
            let application = try await buildApplication(
                AppsConfiguration([notes, calculator]), logger: log.logger(.info))
            try await application.test(.router) { http in
                let client = Client(http: http)
                let store = try #require(opened.withLock { $0 })
                try await store.close()
                let response = try await client.get("/health/ready")
                let problem = try client.problem(response)
                #expect(problem.code == .busy && problem.reason == "noAppReady")
                #expect(response.headers[.retryAfter] == "5")
                #expect(
                    problem.detail
                        == "no app is ready (notes: appNotRunning, calculator: databaseFailed); the log says why")
                let lines = log.texts.filter { $0.contains(#""message":"the database failed""#) }
                #expect(lines.count == 1, "\(log.texts)")
                #expect(lines.first?.contains(#""app":"calculator""#) == true, "\(lines)")
                #expect(lines.first?.contains("the database is closed") == true, "\(lines)")
            }
        }
    }

    @Test func `a reload that one app's database refuses leaves the webhooks of the other apps as they were`()
        async throws
    {
        try await withFolder { folder in
            func configuration(events: [String]) throws -> AppsConfiguration {
                let apps = try ["calculator", "notes"].map { name in
                    var app = try configuredApp(name, bundleID: "com.example.\(name)", in: folder)
                    app.configuration.webhooks = [.local(1, events: events)]
                    return app
                }
                return try AppsConfiguration(apps)
            }
            let fresh = try configuration(events: ["customer.erased"])
            let apps = RunningApps(
                try configuration(events: ["customer.merged"]),
                reread: { (configuration: fresh, mistakes: [], warnings: []) }, logger: Calculator.logger)
            #expect(try await apps.start().isEmpty)
            apps.makeRoutes()
            let notes = try #require(apps["notes"]?.service.store)
            try await DatabaseTestBed.execute(
                "CREATE TRIGGER refusal BEFORE INSERT ON endpoints BEGIN SELECT RAISE(ABORT, 'no'); END", in: notes)
            await #expect(throws: RunningApps.ReloadRefusal.self) { try await apps.reload() }
            let calculator = try #require(apps["calculator"]?.service.store)
            let types = try await calculator.database.read { session throws(StoreError) in
                try session.row("SELECT types FROM endpoints")?.text(0)
            }
            #expect(types == "customer.merged")
            await apps.close()
        }
    }

    @Test func `ten wrong keys limit the routes about all apps, but neither the right key nor the routes of an app`()
        async throws
    {
        try await withFailingApp { client, key in
            let path = "/v1/admin/apps"
            for _ in 0..<WrongKeyLimit.limit {
                let problem = try client.problem(try await client.get(path, token: KeySecret().text))
                #expect(problem.code == .notAuthenticated)
                #expect(
                    problem.detail == """
                        send the admin key at the top level of the configuration, not the key of an app, as \
                        `Authorization: Bearer …`
                        """)
            }
            let limited = try await client.get(path, token: KeySecret().text)
            #expect(limited.status == .tooManyRequests && limited.headers[.retryAfter] == "60")
            #expect(try await client.get(path).status == .unauthorized)
            #expect(try await client.get(path, token: key).status == .ok)
            let audit = "/apps/calculator/v1/admin/audit"
            #expect(try await client.get(audit, token: KeySecret().text).status == .unauthorized)
        }
    }

    @Test func `the routes about all apps don't exist below an app's path, nor in a service with one app`() async throws
    {
        let words = "this route exists only if `apps` is configured; call it without `/apps/NAME`"
        @Sendable func expectNone(_ client: Client, _ prefix: String, _ key: String) async throws {
            for (method, path) in [(HTTPRequest.Method.get, "/v1/admin/apps"), (.post, "/v1/admin/apps/reload")] {
                let response = try await client.http.execute(
                    uri: prefix + path, method: method, headers: [.authorization: "Bearer \(key)"]
                ) { $0 }
                let problem = try client.problem(response)
                #expect(problem.code == .notFound && problem.detail == words, "\(method) \(path)")
            }
        }
        try await withFolder { folder in
            let key = KeySecret().text
            var calculator = try configuredApp("calculator", bundleID: "com.example.calculator", in: folder)
            calculator.configuration.adminKey = key
            let several = try await buildApplication(AppsConfiguration([calculator]), logger: Calculator.logger)
            try await several.test(.router) { try await expectNone(Client(http: $0), "/apps/calculator", key) }
        }
        let key = KeySecret().text
        try await withService {
            $0.adminKey = key
        } _: {
            try await expectNone($0, "", key)
        }
    }
}
