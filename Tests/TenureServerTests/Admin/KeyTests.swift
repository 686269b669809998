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

@Suite struct `keys to the admin interface` {
    private static let routes: [(HTTPRequest.Method, String, Right)] = [
        (.get, "/v1/admin/customers?id=1", .read), (.post, "/v1/admin/customers/find", .read),
        (.get, "/v1/admin/customers/cus_x", .read), (.get, "/v1/admin/customers/cus_x/timeline", .read),
        (.post, "/v1/admin/customers/cus_x/grants", .support),
        (.post, "/v1/admin/customers/cus_x/revocations", .support),
        (.post, "/v1/admin/customers/cus_x/links", .link), (.delete, "/v1/admin/customers/cus_x/links/u", .link),
        (.post, "/v1/admin/customers/cus_x/merges", .merge),
        (.delete, "/v1/admin/customers/cus_x/merges/cus_y", .merge),
        (.get, "/v1/admin/customers/cus_x/export", .export), (.delete, "/v1/admin/customers/cus_x", .erase),
        (.get, "/v1/admin/audit", .audit), (.post, "/v1/link", .link), (.get, "/v1/admin/personas", .persona),
        (.post, "/v1/admin/personas", .persona), (.post, "/v1/admin/personas/ready-made", .persona),
        (.delete, "/v1/admin/personas/early", .persona), (.get, "/v1/admin/policies", .policies),
        (.get, "/v1/admin/policies/1", .policies), (.post, "/v1/admin/policies/rehearsals", .policies),
        (.get, "/v1/admin/policies/rehearsals/reh_x", .policies), (.post, "/v1/admin/policies", .publish),
        (.post, "/v1/admin/policies/rollback", .publish),
    ]

    @Test func `open exactly the routes of their scope`() async throws {
        try await withDesk { desk, keys in
            for (method, path, right) in Self.routes {
                for scope in RecordedKey.Scope.allCases {
                    let holder = desk.with(keys[scope])
                    let answer = try await holder.send(method, path, method == .post ? [:] : nil)
                    if scope.rights.contains(right) {
                        #expect(answer.status != .forbidden && answer.status != .unauthorized, "\(scope) \(path)")
                    } else {
                        #expect(answer.problem?.code == .forbidden, "\(scope) \(path): \(answer.text)")
                    }
                }
            }
            // What a known key may not do stands in the audit trail.
            let lines = try await desk.get("/v1/admin/audit?limit=500").entries
            let refused = lines.filter { ($0["detail"] as? [String: Any])?["refused"] as? String == "forbidden" }
            let expected = Self.routes.flatMap { route in
                RecordedKey.Scope.allCases.filter { !$0.rights.contains(route.2) }
            }
            #expect(refused.count == expected.count)
        }
    }

    @Test func `nothing opens without one`() async throws {
        for (method, path, _) in Self.routes {
            try await withDesk { desk, _ in
                for key in [nil, "", "tenure_key_wrong", Desk.adminKey + "0", String(repeating: "k", count: 5000)] {
                    let answer = try await desk.with(key).send(method, path, method == .post ? [:] : nil)
                    #expect(answer.problem?.code == .notAuthenticated, "\(path)")
                }
            }
        }
    }

    @Test func `a service without an admin key has none that is empty, and takes none that is short`() async throws {
        try await withService { (client: Client) async throws in
            #expect(try await Desk(client: client, key: "").get("/v1/admin/audit").status == .unauthorized)
        }
        for configured in ["", "hello", String(repeating: "k", count: 31)] {
            await #expect(throws: ServiceError.weakAdminKey(length: 32)) {
                try await withService {
                    $0.adminKey = configured
                } _: { (_: Client) async throws in
                }
            }
        }
    }

    @Test func `a revoked key opens nothing from the next request on`() async throws {
        try await withFolder { folder in
            let secret = KeySecret()
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            _ = try await store.create(
                RecordedKey(name: "ada", scope: .read, createdAt: .now), secret: secret.hash, actor: "tests")
            try await withService(in: folder) { (client: Client) async throws in
                let desk = Desk(client: client, key: secret.text)
                #expect(try await desk.get("/v1/admin/customers?id=1").status == .ok)
                // By another process, as the command does.
                #expect(try await store.revokeKey(named: "ada", at: .now, actor: "tests") != nil)
                #expect(try await desk.get("/v1/admin/customers?id=1").status == .unauthorized)
            }
            try await store.close()
        }
    }

    @Test func `the record does not hold a key's secret`() async throws {
        try await withFolder { folder in
            let secret = KeySecret()
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            _ = try await store.create(
                RecordedKey(name: "ada", scope: .read, createdAt: .now), secret: secret.hash, actor: "tests")
            try await store.close()
            #expect(secret.text.utf8.count == "tenure_key_".utf8.count + 43)
            #expect(KeySecret().text != secret.text)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
                #expect(bytes.range(of: Data(secret.text.utf8)) == nil, "\(name)")
            }
        }
    }

    @Test func `many wrong ones are held up for a while, and right ones from there too`() async throws {
        try await withDesk { desk, _ in
            for _ in 0..<FailedTries.limit {
                #expect(try await desk.with("wrong").get("/v1/admin/audit").status == .unauthorized)
            }
            let answer = try await desk.with("wrong").get("/v1/admin/audit")
            #expect(answer.problem?.code == .tooManyRequests)
            #expect(try await desk.get("/v1/admin/audit").problem?.code == .tooManyRequests)
        }
    }

    @Test func `tries are counted by address and forgotten in time`() {
        let tries = FailedTries()
        let now = Calculator.now
        for number in 1...FailedTries.limit { #expect(tries.add("192.0.2.1", now: now) == number) }
        #expect(tries.wait(for: "192.0.2.1", now: now) == 60)
        #expect(tries.wait(for: "192.0.2.1", now: now.addingTimeInterval(59.5)) == 1)
        #expect(tries.wait(for: "192.0.2.1", now: now.addingTimeInterval(60)) == nil)
        #expect(tries.wait(for: "192.0.2.2", now: now) == nil)
        #expect(tries.wait(for: "192.0.2.1", now: now.addingTimeInterval(-86_400)) == nil, "the clock was set back")
        #expect(tries.add("192.0.2.1", now: now.addingTimeInterval(60)) == 1)
        for number in 0..<(2 * FailedTries.capacity) { _ = tries.add("address \(number)", now: now) }
        #expect(tries.count <= FailedTries.capacity)
    }
}
