import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `keys of the admin API` {
    /// Every route with the scopes that allow it. The service's own table must agree.
    private static let routes: [(HTTPRequest.Method, String, Set<StoredAdminKey.Scope>)] = [
        (.get, "/v1/admin/customers?id=1", [.admin, .support, .read]),
        (.post, "/v1/admin/customers/find", [.admin, .support, .read]),
        (.get, "/v1/admin/orders/M1", [.admin, .support, .read]),
        (.get, "/v1/admin/customers/cus_x", [.admin, .support, .read]),
        (.get, "/v1/admin/customers/cus_x/timeline", [.admin, .support, .read]),
        (.get, "/v1/admin/customers/cus_x/export", [.admin, .support]),
        (.delete, "/v1/admin/customers/cus_x", [.admin]),
        (.post, "/v1/admin/customers/cus_x/grants", [.admin, .support]),
        (.post, "/v1/admin/customers/cus_x/revocations", [.admin, .support]),
        (.post, "/v1/admin/customers/cus_x/links", [.admin, .support, .link]),
        (.delete, "/v1/admin/customers/cus_x/links/u", [.admin, .support, .link]),
        (.post, "/v1/admin/customers/cus_x/merges", [.admin, .support]),
        (.delete, "/v1/admin/customers/cus_x/merges/cus_y", [.admin, .support]),
        (.get, "/v1/admin/audit", [.admin]),
        (.post, "/v1/link", [.admin, .support, .link]),
        (.get, "/v1/admin/personas", [.admin, .policy]),
        (.post, "/v1/admin/personas", [.admin, .policy]),
        (.post, "/v1/admin/personas/ready-made", [.admin, .policy]),
        (.delete, "/v1/admin/personas/early", [.admin, .policy]),
        (.get, "/v1/admin/policies", [.admin, .policy]),
        (.get, "/v1/admin/policies/1", [.admin, .policy]),
        (.post, "/v1/admin/policies/rehearsals", [.admin, .policy]),
        (.get, "/v1/admin/policies/rehearsals/reh_x", [.admin, .policy]),
        (.post, "/v1/admin/policies", [.admin, .policy]),
        (.post, "/v1/admin/policies/rollback", [.admin, .policy]),
    ]

    @Test func `an admin key is accepted only on the routes of its scope`() async throws {
        try await withAdminClient { admin, keys in
            for (method, path, scopes) in Self.routes {
                for scope in StoredAdminKey.Scope.allCases {
                    let holder = admin.with(keys[scope])
                    let answer = try await holder.send(method, path, method == .post ? [:] : nil)
                    if scopes.contains(scope) {
                        #expect(answer.status != .forbidden && answer.status != .unauthorized, "\(scope) \(path)")
                    } else {
                        #expect(answer.problem?.code == .forbidden, "\(scope) \(path): \(answer.text)")
                        // The refusal names the scopes that are enough.
                        for needed in scopes { #expect(answer.text.contains("`\(needed.rawValue)`"), "\(answer.text)") }
                    }
                }
            }
            // The audit trail has the refused requests of valid keys.
            let lines = try await admin.get("/v1/admin/audit?limit=500").entries
            let refused = lines.filter { ($0["detail"] as? [String: Any])?["refused"] as? String == "forbidden" }
            let expected = Self.routes.map { StoredAdminKey.Scope.allCases.count - $0.2.count }.reduce(0, +)
            #expect(refused.count == expected)
        }
    }

    /// Whether a request for this path leads to a route, such as `/v1/admin/customers/{id}`.
    private static func matches(_ route: String, _ path: String) -> Bool {
        let names = route.split(separator: "/")
        let parts = path.split(separator: "?")[0].split(separator: "/")
        return names.count == parts.count && zip(names, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }

    @Test func `the tests' table of routes lists every route of the admin API`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            // The routes about several apps need the admin key of the configuration, not a key of one app.
            let guarded = try service.router().routes.filter { route in
                let path = route.path.description
                return route.method != .head
                    && (path.hasPrefix("/v1/admin") && !path.hasPrefix("/v1/admin/apps") || path == "/v1/link")
            }
            // Each request of the table leads to one route, and every route has a request.
            let requested = Self.routes.map { method, path, _ in
                guarded.filter { $0.method == method && Self.matches($0.path.description, path) }.map {
                    "\($0.method) \($0.path.description)"
                }
            }
            #expect(requested.allSatisfy { $0.count == 1 }, "\(requested)")
            #expect(
                requested.flatMap(\.self).sorted() == guarded.map { "\($0.method) \($0.path.description)" }.sorted())
            try await service.store.close()
        }
    }

    @Test func `every route of the admin API refuses a missing or wrong key`() async throws {
        for (method, path, _) in Self.routes {
            try await withAdminClient { admin, _ in
                let unknown = KeySecret().text
                for key in [
                    nil, "", "tenure_key_wrong", unknown, AdminClient.adminKey + "0",
                    "\(AdminClient.adminKey.dropLast())",
                ] {
                    let answer = try await admin.with(key).send(method, path, method == .post ? [:] : nil)
                    #expect(answer.problem?.code == .notAuthenticated, "\(path)")
                }
            }
        }
    }

    @Test func `a service without an admin key refuses an empty key, and no service starts with a malformed key`()
        async throws
    {
        try await withService { (client: Client) async throws in
            #expect(try await AdminClient(client: client, key: "").get("/v1/admin/audit").status == .unauthorized)
        }
        let key = AdminClient.adminKey
        let homemade = [
            "", "hello", String(repeating: "k", count: 64), "0123456789abcdef0123456789abcdef0123456789abcdef",
            "tenure_key_" + String(repeating: "A", count: 48), String(key.dropLast()), key + "A", key.uppercased(),
            String(key.dropFirst("tenure_key_".count)),
        ]
        for configured in homemade {
            await #expect(throws: ServiceError.invalidAdminKey, "\(configured)") {
                try await withService {
                    $0.adminKey = configured
                } _: { (_: Client) async throws in
                }
            }
        }
    }

    @Test func `an admin key with one changed character is invalid`() {
        let key = Array(AdminClient.adminKey)
        #expect(KeySecret(String(key)) != nil)
        for index in key.indices {
            var changed = key
            changed[index] = changed[index] == "x" ? "y" : "x"
            #expect(KeySecret(String(changed)) == nil, "\(index)")
        }
    }

    @Test func `a revoked admin key is refused from the next request on`() async throws {
        try await withFolder { folder in
            let secret = KeySecret()
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            _ = try await store.write(locking: [.adminKeys]) {
                try $0.create(
                    StoredAdminKey(name: "ada", scope: .read, createdAt: .now), secret: secret.hash, actor: "tests")
            }
            try await withService(in: folder) { (client: Client) async throws in
                let admin = AdminClient(client: client, key: secret.text)
                #expect(try await admin.get("/v1/admin/customers?id=1").status == .ok)
                // another process revokes the key, as the command does
                #expect(
                    try await store.write(at: .now, locking: [.adminKeys]) {
                        try $0.revokeKey(named: "ada", actor: "tests")
                    } != nil)
                #expect(try await admin.get("/v1/admin/customers?id=1").status == .unauthorized)
            }
            try await store.close()
        }
    }

    @Test func `the database doesn't contain an admin key's secret`() async throws {
        try await withFolder { folder in
            let secret = KeySecret()
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            _ = try await store.write(locking: [.adminKeys]) {
                try $0.create(
                    StoredAdminKey(name: "ada", scope: .read, createdAt: .now), secret: secret.hash, actor: "tests")
            }
            try await store.close()
            #expect(secret.text.utf8.count == "tenure_key_".utf8.count + 48)
            #expect(KeySecret().text != secret.text)
            let database = try Data(contentsOf: URL(fileURLWithPath: folder + "/tenure.sqlite"))
            #expect(database.range(of: Data("ada".utf8)) != nil, "the key is in the database")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
                #expect(bytes.range(of: Data(secret.text.utf8)) == nil, "\(name)")
            }
        }
    }

    @Test func `the limit of wrong admin keys for the metrics ends after a minute on the service's clock`()
        async throws
    {
        let clock = TestClock()
        try await withService({
            $0.now = { clock.now }
            $0.adminKey = AdminClient.adminKey
        }) { client async throws in
            func status() async throws -> HTTPResponse.Status {
                try await client.get("/metrics", token: KeySecret().text).status
            }
            for _ in 0..<WrongKeyLimit.limit { #expect(try await status() == .unauthorized) }
            #expect(try await status() == .tooManyRequests)
            clock.advance(by: WrongKeyLimit.length)
            #expect(try await status() == .unauthorized)
        }
    }

    @Test func `attempts with a wrong admin key are counted by address, and forgotten over time`() {
        let tries = WrongKeyLimit()
        let now = Calculator.now
        for number in 1...WrongKeyLimit.limit { #expect(tries.countWrongKey(from: "192.0.2.1", now: now) == number) }
        #expect(tries.wait(for: "192.0.2.1", now: now) == 60)
        #expect(tries.wait(for: "192.0.2.1", now: now.addingTimeInterval(59.5)) == 1)
        #expect(tries.wait(for: "192.0.2.1", now: now.addingTimeInterval(60)) == nil)
        #expect(tries.wait(for: "192.0.2.2", now: now) == nil)
        #expect(tries.wait(for: "192.0.2.1", now: now.addingTimeInterval(-86_400)) == nil, "the clock was set back")
        #expect(tries.countWrongKey(from: "192.0.2.1", now: now.addingTimeInterval(60)) == 1)
        for number in 0..<(2 * WrongKeyLimit.capacity) { _ = tries.countWrongKey(from: "address \(number)", now: now) }
        #expect(tries.count <= WrongKeyLimit.capacity)
    }
}
