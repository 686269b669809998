import CalculatorSeller
import Crypto
import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureCore
import TenureJSON
import Testing

@testable import LocalAppStore

/// Signs a token that differs from a valid one by `change`.
private func token(
    _ client: StoreClient, _ change: (_ head: inout JSONObject, _ claims: inout JSONObject) -> Void
) throws -> String {
    let seconds = Int64(client.now.timeIntervalSince1970)
    var head: JSONObject = [
        "alg": .string("ES256"), "kid": .string(client.key.keyID), "typ": .string("JWT"),
    ]
    var claims: JSONObject = [
        "iss": .string(client.key.issuerID), "iat": .integer(seconds), "exp": .integer(seconds + 300),
        "aud": .string("appstoreconnect-v1"), "bid": .string(Shop.bundleID),
    ]
    change(&head, &claims)
    let signed = [head, claims].map { Base64.urlSafe.text(JSONValue.object($0).bytes) }.joined(separator: ".")
    let signature = try client.key.privateKey.signature(for: Array(signed.utf8)).rawRepresentation
    return "\(signed).\(Base64.urlSafe.text(signature))"
}

/// Who may send requests to the App Store Server API, and how many.
@Suite struct `access to the App Store Server API` {
    private typealias Change = (_ head: inout JSONObject, _ claims: inout JSONObject) -> Void

    private func bought() throws -> AppStoreState {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        try state.buy(Shop.coins, "Ada")
        return state
    }

    @Test func `each field of an API token is checked, and only iat may be missing`() async throws {
        let state = try bought()
        try await withStoreClient(state) { client async throws in
            let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
            let now = Int64(client.now.timeIntervalSince1970)
            let cases: [(name: String, status: Int, change: Change)] = [
                ("none", 200, { _, _ in }),
                ("alg", 401, { head, _ in head["alg"] = .string("ES384") }),
                ("kid", 401, { head, _ in head["kid"] = .string("ABCDEFGHIJ") }),
                ("typ", 401, { head, _ in head["typ"] = nil }),
                ("iss", 401, { _, claims in claims["iss"] = .string("00000000-0000-4000-8000-000000000000") }),
                ("aud", 401, { _, claims in claims["aud"] = .string("appstoreconnect-v2") }),
                ("no bid", 401, { _, claims in claims["bid"] = nil }),
                ("no exp", 401, { _, claims in claims["exp"] = nil }),
                ("exp as text", 401, { _, claims in claims["exp"] = .string("\(now + 300)") }),
                ("iat as text", 401, { _, claims in claims["iat"] = .string("\(now)") }),
                ("iat before 1970", 401, { _, claims in claims["iat"] = .integer(.min) }),
                ("distant exp", 401, { _, claims in claims["exp"] = .integer(.max) }),
                (
                    "fractions", 200,
                    { _, claims in
                        claims["iat"] = .number("\(now).0")
                        claims["exp"] = .number("\(now + 300).0")
                    }
                ),
                ("no iat", 200, { _, claims in claims["iat"] = nil }),
                (
                    "no iat, an hour", 200,
                    { _, claims in
                        claims["iat"] = nil
                        claims["exp"] = .integer(now + 3600)
                    }
                ),
                (
                    "no iat, longer", 401,
                    { _, claims in
                        claims["iat"] = nil
                        claims["exp"] = .integer(now + 3601)
                    }
                ),
            ]
            for (name, status, change) in cases {
                let answer = try await client.send(.get, path, token: try token(client, change))
                #expect(answer.status == status, "\(name)")
            }
            // Claims that weren't signed.
            let (valid, other) = (try token(client) { _, _ in }, try token(client) { $1["exp"] = .integer(now + 301) })
            var parts = valid.split(separator: ".")
            parts[1] = other.split(separator: ".")[1]
            #expect(try await client.send(.get, path, token: parts.joined(separator: ".")).status == 401)
        }
    }

    @Test func `a request needs a bearer token of less than 8 KB`() async throws {
        let state = try bought()
        try await withStoreClient(state) { client async throws in
            let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
            func status(_ authorization: String?) async throws -> Int {
                var headers = HTTPFields()
                headers[.authorization] = authorization
                return try await client.http.execute(uri: path, method: .get, headers: headers) { $0.status.code }
            }
            let valid = try token(client) { _, _ in }
            #expect(try await status("Bearer \(valid)") == 200)
            #expect(try await status(nil) == 401)
            #expect(try await status(valid) == 401)
            #expect(try await status("Basic \(valid)") == 401)
            let long = try token(client) { _, claims in claims["x"] = .string(String(repeating: "x", count: 8192)) }
            #expect(try await status("Bearer \(long)") == 401)
        }
    }

    /// Apple's limits are 50, 20, 10 or 1 requests per second. The test allows 5, 2, 1 or 0 requests in an hour.
    @Test(
        arguments: [
            (.get, "v1/transactions/x", 5), (.get, "v1/transactions/appTransactions/x", 5),
            (.get, "v1/subscriptions/x", 5), (.get, "v1/history/x", 5), (.get, "v2/history/x", 5),
            (.get, "v2/refund/lookup/x", 1), (.get, "v1/lookup/x", 1), (.put, "v1/transactions/consumption/x", 5),
            (.put, "v2/transactions/consumption/x", 5), (.put, "v1/transactions/x/appAccountToken", 2),
            (.post, "v1/transactions/x/finish", 5), (.put, "v1/subscriptions/extend/x", 2),
            (.post, "v1/subscriptions/extend/mass", 0), (.get, "v1/subscriptions/extend/mass/x/r1", 0),
            (.post, "v1/notifications/history", 5), (.post, "v1/notifications/test", 0),
            (.get, "v1/notifications/test/x", 0),
        ] as [(HTTPRequest.Method, String, Int)])
    func `each endpoint of the App Store Server API has Apple's limit of requests`(
        method: HTTPRequest.Method, path: String, allowed: Int
    ) async throws {
        try await withStoreClient(try bought(), rateLimitShare: 5.5 / 180_000) { client async throws in
            var answered = 0
            for _ in 0..<7 {
                let answer = try await client.send(method, "/inApps/" + path)
                if answer.status != 429 { answered += 1 }
            }
            #expect(answered == allowed)
            // A request with another rate isn't limited by these requests.
            let other = allowed == 5 ? "v1/lookup/x" : "v1/transactions/x"
            #expect(try await client.get("/inApps/" + other).status != 429)
        }
    }

    @Test func `an injected error isn't counted as a request, and 0 requests end a fault`() async throws {
        let state = try bought()
        try await withStoreClient(state, rateLimitShare: 1.5 / 180_000) { client async throws in
            let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
            await client.fault.inject(.accountNotFound, requests: 3)
            for _ in 0..<2 { #expect(try await client.get(path).body.integer("errorCode") == 4_040_001) }
            await client.fault.inject(.accountNotFound, requests: 0)
            #expect(try await client.get(path).status == 200)
            #expect(try await client.get(path).status == 429)
        }
    }

    @Test func `a request body above 64 KB is refused, and answers are JSON`() async throws {
        let state = try bought()
        try await withStoreClient(state) { client async throws in
            let id = state.id(of: state.transactions[0])
            let body: JSONObject = [
                "appAccountToken": .string("0e3a2a3c-0000-4000-8000-000000000001"),
                "more": .string(String(repeating: "x", count: 1 << 16)),
            ]
            let answer = try await client.send(.put, "/inApps/v1/transactions/\(id)/appAccountToken", body)
            #expect(answer.status == 400 && answer.body.integer("errorCode") == 4_000_000)
            #expect(await client.store.state.transactions[0].appAccountToken == nil)
            let authorization = "Bearer \(try token(client) { _, _ in })"
            for path in ["v1/transactions/\(id)", "v1/transactions/x"] {
                let type = try await client.http.execute(
                    uri: "/inApps/" + path, method: .get, headers: [.authorization: authorization]
                ) { $0.headers[.contentType] }
                #expect(type == "application/json", "\(path)")
            }
        }
    }

    @Test func `operations run one after the other, until their notifications are sent`() async throws {
        let (running, most) = (Locked(0), Locked(0))
        let state = try Shop.state(of: "Ada", url: "https://example.com/hook")
        let store = LocalAppStore(state, signer: Shop.signer) { _, _, _ in
            let now = running.withLock { (count: inout Int) -> Int in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, now) }
            for _ in 0..<10 { await Task.yield() }
            running.withLock { $0 -= 1 }
            return .success
        }
        try await withThrowingTaskGroup(of: Int.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask {
                    try await store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins])).count
                }
            }
            // Each operation returns its own notification only.
            for try await count in tasks { #expect(count == 1) }
        }
        #expect(most.withLock { $0 } == 1)
        #expect(await store.state.notifications.map { $0.attempts.count } == [1, 1, 1, 1])
    }
}
