import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct `several apps in one service` {
    private static let notes = "com.example.notes"

    /// Runs a service with two apps. With `.live`, it knows the client's address.
    private func withApps(
        _ setup: TestingSetup = .router,
        _ body: @escaping @Sendable (_ calculator: Client, _ notes: Client, _ bare: Client) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let apps = [
                try configuredApp("calculator", bundleID: "com.example.calculator", in: folder),
                try configuredApp("notes", bundleID: Self.notes, in: folder),
            ]
            let application = try await buildApplication(AppsConfiguration(apps), logger: Calculator.logger)
            try await application.test(setup) { http in
                try await body(
                    Client(http: http, prefix: "/apps/calculator"), Client(http: http, prefix: "/apps/notes"),
                    Client(http: http))
            }
        }
    }

    private func owner(of bundleID: String = "com.example.calculator") throws -> SyncRequest {
        SyncRequest(
            appTransaction: try Calculator.minter(bundleID: bundleID).text(.appTransaction), transactions: [])
    }

    @Test func `the library's serve(apps:) serves each app under its name until its task is canceled`() async throws {
        try await withFolder { folder in
            let apps = [
                try configuredApp("calculator", bundleID: "com.example.calculator", in: folder),
                try configuredApp("notes", bundleID: Self.notes, in: folder),
            ]
            let (ports, opened) = AsyncStream.makeStream(of: Int.self)
            let service = Task {
                defer { opened.finish() }
                try await serve(apps: apps, logger: Calculator.logger) { opened.yield($0) }
            }
            var port: Int?
            for await number in ports {
                port = number
                break
            }
            let address = "http://127.0.0.1:\(try #require(port))"
            for (path, status) in [
                ("/apps/calculator/health/ready", 200), ("/apps/notes/health/ready", 200), ("/health/ready", 200),
                ("/apps/other/health/ready", 404),
            ] {
                let url = try #require(URL(string: address + path))
                let response = try await URLSession.shared.data(from: url).1 as? HTTPURLResponse
                #expect(response?.statusCode == status, "\(path)")
            }
            service.cancel()
            try await service.value
        }
    }

    @Test func `each of several apps in one service accepts only its own artifacts`() async throws {
        try await withApps { calculator, notes, _ in
            let answer = try await calculator.sync(try owner())
            #expect(answer.entitlements["everything"]?.outcome == .granted)
            let refused = try await notes.refused(try owner())
            #expect(refused.code == .nothingVerified)
            #expect(refused.problems.map(\.code) == ["wrongApp"])
            let other = try await notes.sync(try owner(of: Self.notes))
            #expect(other.entitlements["everything"]?.outcome == .granted)
            #expect(other.id != answer.id)
            #expect(try await calculator.refused(try owner(of: Self.notes)).code == .nothingVerified)
        }
    }

    @Test func `metrics of several apps in one service have a label for each app`() async throws {
        try await withApps(.live) { calculator, notes, bare in
            _ = try await calculator.sync(try owner())
            _ = try await notes.refused(try owner())
            func text(_ client: Client) async throws -> String {
                try await client.http.execute(uri: client.prefix + "/metrics", method: .get) {
                    String(buffer: $0.body)
                }
            }
            let all = try await text(bare)
            #expect(all.contains(#"tenure_sync_artifacts_counted_total{app="calculator"} 1"#), "\(all)")
            #expect(all.contains(#"tenure_sync_artifacts_counted_total{app="notes"} 0"#))
            #expect(all.contains(#"tenure_sync_artifacts_rejected_total{app="notes",code="wrongApp"} 1"#))
            #expect(all.components(separatedBy: "# TYPE tenure_requests_total counter").count == 2, "once for all")
            #expect(try await text(calculator).contains("tenure_sync_artifacts_counted_total 1"))
        }
    }

    @Test func `metrics include an app that can't start, with its refused requests and the size of its database`()
        async throws
    {
        try await withFolder { folder in
            let calculator = try configuredApp("calculator", bundleID: "com.example.calculator", in: folder)
            var notes = try configuredApp("notes", bundleID: Self.notes, in: folder)
            notes.openStore = { _ in throw ServiceError.failed("the database can't be opened") }
            try Data("unused".utf8).write(to: URL(fileURLWithPath: notes.configuration.databasePath))
            let application = try await buildApplication(
                AppsConfiguration([calculator, notes]), logger: Calculator.logger)
            try await application.test(.live) { http in
                let client = Client(http: http)
                for _ in 0..<2 {
                    let refused = try await client.get("/apps/notes/v1/products")
                    let problem = try client.problem(refused)
                    #expect(problem.code == .busy && problem.reason == "appNotRunning")
                    #expect(refused.headers[.retryAfter] == "5")
                    #expect(
                        problem.detail == "the app isn't running; the service's log and `tenure apps list` say why")
                }
                _ = try await client.get("/apps/calculator/v1/products")
                let metrics = String(buffer: try await client.get("/metrics").body)
                for line in [
                    #"tenure_requests_total{app="notes",method="GET",route="none",status="503"} 2"#,
                    #"tenure_requests_total{app="calculator",method="GET",route="/v1/products",status="200"} 1"#,
                    #"tenure_requests_in_flight{app="notes"} 0"#,
                    #"tenure_database_bytes{app="notes",file="database"} 6"#,
                ] {
                    #expect(metrics.contains(line + "\n"), "\(line) in \(metrics)")
                }
            }
        }
    }

    @Test func `an access token of one app gives no access to another app of the same service`() async throws {
        try await withApps { calculator, notes, bare in
            let answer = try await calculator.sync(try owner())
            // In both databases, a customer gets the number 1.
            _ = try await notes.sync(try owner(of: Self.notes))
            let token = try #require(answer.accessToken?.value)
            #expect(try await calculator.customer(token).id == answer.id)
            let refused = try await notes.get("/v1/customer", token: token)
            #expect(try notes.problem(refused).code == .notAuthenticated)
            #expect(try bare.problem(try await bare.get("/v1/customer", token: token)).code == .notFound)
        }
    }

    @Test func `an entitlement token is signed only by the key of its app`() async throws {
        try await withApps { calculator, notes, _ in
            let entitlementToken = try #require(try await calculator.sync(try owner()).entitlementToken)
            let own = try await key(of: calculator)
            let other = try await key(of: notes)
            #expect(try isSigned(entitlementToken, by: own))
            #expect(try !isSigned(entitlementToken, by: other))
            let second = try #require(try await notes.sync(try owner(of: Self.notes)).entitlementToken)
            #expect(try isSigned(second, by: other))
            #expect(try !isSigned(second, by: own))
        }
    }

    private func key(of client: Client) async throws -> P256.Signing.PublicKey {
        let body = Data(buffer: try await client.get("/.well-known/jwks.json").body)
        let set = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        let key = try #require((set["keys"] as? [[String: Any]])?.first)
        let (x, y) = (try #require(key["x"] as? String), try #require(key["y"] as? String))
        return try P256.Signing.PublicKey(rawRepresentation: try bytes(x) + (try bytes(y)))
    }

    private func isSigned(_ jws: String, by key: P256.Signing.PublicKey) throws -> Bool {
        let parts = jws.split(separator: ".")
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try bytes(String(try #require(parts.last))))
        return key.isValidSignature(signature, for: Data(parts.dropLast().joined(separator: ".").utf8))
    }

    private func bytes(_ text: String) throws -> [UInt8] {
        try #require(Base64.urlSafe.decode(Array(text.utf8)[...]))
    }

    @Test func `several apps of one service store their data in separate databases`() async throws {
        try await withFolder { folder in
            let apps = [
                try configuredApp("calculator", bundleID: "com.example.calculator", in: folder),
                try configuredApp("notes", bundleID: Self.notes, in: folder),
            ]
            let application = try await buildApplication(AppsConfiguration(apps), logger: Calculator.logger)
            try await application.test(.router) { http in
                _ = try await Client(http: http, prefix: "/apps/calculator").sync(try owner())
            }
            for (app, count) in zip(apps, [1, 0]) {
                let store = try Store(SQLiteDatabase(path: app.configuration.databasePath))
                #expect(try await store.read { try $0.customers(after: 0, limit: 10) }.count == count)
                try await store.close()
            }
        }
    }

    @Test func `with several apps, a path without a known app isn't found, except for health and metrics`() async throws
    {
        try await withApps(.live) { calculator, _, bare in
            let strange = [
                "/v1/customer", "/.well-known/jwks.json", "/apps/", "/apps/other/.well-known/jwks.json",
                "/apps/calculatorx/.well-known/jwks.json", "/",
            ]
            for path in strange {
                let problem = try bare.problem(try await bare.get(path))
                #expect(problem.code == .notFound, "\(path)")
                #expect(
                    problem.detail
                        == "there is nothing at this path; the paths of an app begin with `/apps/NAME/`", "\(path)")
                let head = try await bare.http.execute(uri: path, method: .head) { $0 }
                #expect(head.status == .notFound && head.body.readableBytes == 0, "\(path)")
            }
            for path in ["/health/live", "/health/ready"] {
                let (ofAll, ofOne) = (try await bare.get(path), try await calculator.get(path))
                #expect(ofAll.status == .ok && ofOne.status == .ok)
            }
            let nothing = try await calculator.get("")
            #expect(try calculator.problem(nothing).code == .notFound)
            let metrics = String(buffer: try await bare.get("/metrics").body)
            let labels = #"method="GET",route="none",status="404""#
            #expect(metrics.contains("tenure_requests_total{\(labels)} \(strange.count)\n"), "\(metrics)")
            #expect(metrics.contains("tenure_requests_total{app=\"calculator\",\(labels)} 1\n"), "\(metrics)")
        }
    }

    @Test func `a service with one app serves its routes with and without the app's name in the path`() async throws {
        try await withFolder { folder in
            let app = try configuredApp("calculator", bundleID: "com.example.calculator", in: folder)
            let application = try await buildApplication(AppsConfiguration([app]), logger: Calculator.logger)
            try await application.test(.router) { http in
                let named = try await Client(http: http, prefix: "/apps/calculator").sync(try owner())
                let bare = try await Client(http: http).sync(try owner())
                #expect(named.id == bare.id)
            }
        }
    }

    @Test func `the routes that list and reload apps match the OpenAPI document`() async throws {
        let document = try InterfaceDocument()
        let operations = Dictionary(uniqueKeysWithValues: document.operations.map { ($0.name, $0) })
        try await withFolder { folder in
            let key = KeySecret().text
            var app = try configuredApp("calculator", bundleID: "com.example.calculator", in: folder)
            app.configuration.adminKey = key
            let application = try await buildApplication(AppsConfiguration([app]), logger: Calculator.logger)
            // The services must run, so that a reload can replace them.
            try await application.test(.live) { http in
                let client = Client(http: http)
                func check(_ method: HTTPRequest.Method, _ path: String, _ key: String?, _ status: Int) async throws {
                    var headers = HTTPFields()
                    if let key { headers[.authorization] = "Bearer \(key)" }
                    let response = try await http.execute(uri: path, method: method, headers: headers) { $0 }
                    #expect(response.status.code == status, "\(String(buffer: response.body))")
                    let name = "\(method.rawValue) \(path.replacingOccurrences(of: "/apps/calculator", with: ""))"
                    let mistakes = document.mistakes(of: response, to: try #require(operations[name]))
                    #expect(mistakes == [], "\(String(buffer: response.body))")
                }
                for (method, path) in [(HTTPRequest.Method.get, "/v1/admin/apps"), (.post, "/v1/admin/apps/reload")] {
                    try await check(method, path, key, 200)
                    try await check(method, path, nil, 401)
                    try await check(method, path, KeySecret().text, 401)
                    try await check(method, "/apps/calculator" + path, key, 404)
                }
                #expect(try await client.sync(try owner()).entitlements["everything"]?.outcome == .granted)
            }
        }
    }

    @Test func `apps with the same name, keys folder or database are refused at the start`() async throws {
        try await withFolder { folder in
            let one = try configuredApp("one", bundleID: "com.example.calculator", in: folder)
            var two = try configuredApp("two", bundleID: Self.notes, in: folder)
            #expect(AppConfiguration.mistake(in: [one, two]) == nil)
            #expect(AppConfiguration.mistake(in: []) != nil)
            func mistake() -> String { AppConfiguration.mistake(in: [one, two])?.description ?? "" }
            two.name = "one"
            #expect(mistake().contains("two apps have the name `one`"))
            for name in ["", "One", "a/b", "a b", "ü", ".."] {
                two.name = name
                #expect(mistake().contains("can't be part of a path"), "\(name)")
            }
            two.name = "two"
            two.configuration.keysFolder = folder + "/two/../one"
            #expect(mistake().contains("have their keys in"))
            two.configuration.keysFolder = nil
            two.configuration.databasePath = folder + "/two/../one/tenure.sqlite"
            #expect(mistake().contains("have the database"))
            two = try configuredApp("two", bundleID: Self.notes, in: folder)
            two.configuration.anchors = [:]
            #expect(mistake().hasPrefix("the app `two`: no App Store environment is configured"))
        }
    }
}
