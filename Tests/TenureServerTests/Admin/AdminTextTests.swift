import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// The exact texts of refused requests to the admin API.
@Suite struct `refusals of the admin API` {
    @Test func `each refused request of support names the parameter, its limits and the fix`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let (token, long) = (try owner.token, String(repeating: "a", count: 257))
            let (grants, links) = (try owner.path("/grants"), try owner.path("/links"))
            let grant = ["entitlement": "everything", "reason": "r"]
            func id(_ name: String) -> String { "`\(name)` must have 1 to 256 bytes and no control characters" }
            let reason = "`reason` must have 1 to 1000 bytes and no control characters except tabs and line breaks"
            let after = "`after` must be the `next` of the previous page"
            let noEntitlement = "the policy doesn't have this entitlement; use one of `everything`"
            let oneProof = "send either `accessToken` or `customer`"
            let refused: [(answer: AdminClient.Answer, detail: String)] = [
                (try await admin.get("/v1/admin/customers"), "`id` is missing; add the ID to find as `?id=…`"),
                (try await admin.get("/v1/admin/customers?id=\(long)"), id("id")),
                (try await admin.get("/v1/admin/customers/\(long)"), id("id")),
                (try await admin.delete(links + "/\(long)"), id("user")),
                (try await admin.delete(try owner.path("/merges/\(long)")), id("other")),
                (try await admin.post(try owner.path("/merges"), ["other": "", "reason": "r"]), id("other")),
                (try await admin.post(links, ["userID": ""]), id("userID")),
                (try await admin.post(grants, grant, request: long), id("Idempotency-Key")),
                (try await admin.get("/v1/admin/audit?customer=\(long)"), id("customer")),
                (
                    try await admin.get("/v1/admin/audit?before=x"),
                    "`before` must be the `next` of the previous page"
                ),
                (
                    try await admin.get("/v1/admin/audit?limit=501"), "`limit` must be a whole number from 1 to 500"
                ),
                (try await admin.get(try owner.path("/timeline?after=-1")), after),
                (try await admin.get(try owner.path("/timeline?after=2147483648")), after),
                (try await admin.delete(try owner.path("?reason=%20")), reason),
                (try await admin.post(grants, ["entitlement": "everything", "reason": "a\u{90}b"]), reason),
                (
                    try await admin.post(grants, grant.merging(["until": "2026-11-20T12:00:00Z"]) { $1 }),
                    "`until` is in the past; send a date in the future"
                ),
                (try await admin.post(grants, ["entitlement": "cloud", "reason": "r"]), noEntitlement),
                (
                    try await admin.post(try owner.path("/revocations"), ["entitlement": "cloud", "reason": "r"]),
                    noEntitlement
                ),
                (try await admin.post("/v1/link", ["userID": "ada"]), oneProof),
                (
                    try await admin.post("/v1/link", ["userID": "ada", "accessToken": token, "customer": owner.id]),
                    oneProof
                ),
                (
                    try await admin.post("/v1/link", ["userID": "ada", "accessToken": token + "x"]),
                    "`accessToken` is invalid or expired; let the app sync again"
                ),
            ]
            for (answer, detail) in refused {
                #expect(answer.problem?.code == .malformedRequest && answer.problem?.detail == detail, "\(answer.text)")
            }
            let last = try await admin.get(try owner.path("/timeline?after=2147483647"))
            #expect(last.status == .ok && last.entries.isEmpty && last.json["next"] is NSNull)
            let unknown = try await admin.get("/v1/admin/customers/cus_x").problem
            #expect(
                unknown?.detail
                    == "there is no customer with this ID; find customers with `POST /v1/admin/customers/find`")
            let seen = try await admin.get(try owner.path())
            #expect((seen.json["support"] as? [Any])?.count == 0)
            let newcomer = try await admin.newcomer().path("/grants")
            let accepted = try await admin.post(newcomer, ["entitlement": "everything", "reason": "a\tb\nc"])
            #expect(accepted.status == .ok, "\(accepted.text)")
        }
    }

    @Test func `the refusal of an unknown entitlement lists all entitlements in the order of the policy`() async throws
    {
        let usual = try Calculator.policy()
        let policy = try Policy(
            app: usual.app, eras: usual.eras, buildNumbers: .increasing,
            entitlements: ["zebra", "ant", "cloud"].map {
                Entitlement(name: $0, products: [.init(id: "com.example.calculator.\($0)")])
            })
        try await withService(policy: policy) {
            $0.adminKey = AdminClient.adminKey
        } _: { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let path = try await admin.newcomer().path("/grants")
            let refused = try await admin.post(path, ["entitlement": "everything", "reason": "r"]).problem
            #expect(
                refused?.detail == "the policy doesn't have this entitlement; use one of `zebra`, `ant`, `cloud`")
        }
    }

    @Test func `a refused admin key is missing, wrong, or of a scope that lacks the right`() async throws {
        try await withAdminClient { admin, keys in
            let (grants, customer) = ("/v1/admin/customers/cus_x/grants", "/v1/admin/customers/cus_x")
            let missing = try await admin.with(nil).get("/v1/admin/audit")
            #expect(missing.status == .unauthorized)
            #expect(missing.problem?.detail == "the admin key is missing; send it as `Authorization: Bearer …`")
            let wrong = try await admin.with(KeySecret().text).get("/v1/admin/audit")
            #expect(wrong.status == .unauthorized)
            #expect(wrong.problem?.detail == "the admin key is wrong or revoked; send a valid key")
            func expect(_ answer: AdminClient.Answer, _ scope: String, _ enough: String) {
                let words = "a key of scope `\(scope)` isn't allowed to send this request; use a key of scope \(enough)"
                #expect(answer.status == .forbidden && answer.problem?.detail == words, "\(answer.text)")
            }
            expect(try await admin.with(keys[.read]).post(grants, [:]), "read", "`admin` or `support`")
            expect(try await admin.with(keys[.support]).delete(customer), "support", "`admin`")
            expect(
                try await admin.with(keys[.link]).get("/v1/admin/personas"), "link", "`admin` or `policy`")
        }
    }

    @Test func `after ten wrong keys of any form, a refusal says how many seconds to wait`() async throws {
        let clock = TestClock()
        try await withService({
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        }) { client in
            let admin = AdminClient(client: client, key: KeySecret().text)
            for _ in 0..<5 { #expect(try await admin.get("/v1/admin/audit").status == .unauthorized) }
            for _ in 0..<5 {
                let basic = try await client.http.execute(
                    uri: "/v1/admin/audit", method: .get, headers: [.authorization: "Basic YWRhOmFkYQ=="]
                ) { $0.status }
                #expect(basic == .unauthorized)
            }
            for (seconds, wait) in [(0.0, "60"), (29.5, "31"), (30.0, "1")] {
                clock.advance(by: seconds)
                let refused = try await admin.get("/v1/admin/audit")
                #expect(refused.status == .tooManyRequests && refused.response.headers[.retryAfter] == wait)
                #expect(
                    refused.problem?.detail
                        == "too many wrong keys came from your address; try again after \(wait) s")
            }
            // The limit of `/metrics` is another one.
            #expect(try await client.get("/metrics", token: KeySecret().text).status == .unauthorized)
            clock.advance(by: 0.5)
            #expect(try await admin.get("/v1/admin/audit").status == .unauthorized)
        }
    }

    @Test func `a change to a customer of an authority that isn't trusted is refused and audited like an unknown one`()
        async throws
    {
        try await withFolder { folder in
            let customer = try await withService(in: folder) { client in
                try await AdminClient(client: client, key: nil).owner()
            }
            try await withService(in: folder) { configuration in
                configuration.adminKey = AdminClient.adminKey
                configuration.anchors = [.production: .apple]
            } _: { (client: Client) async throws in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let grant = ["entitlement": "everything", "reason": "r"]
                let refused = [
                    try await admin.post(try customer.path("/grants"), grant),
                    try await admin.post("/v1/link", ["userID": "ada", "customer": customer.id]),
                    try await admin.delete(try customer.path()),
                ]
                #expect(refused.allSatisfy { $0.problem?.reason == "noSuchCustomer" && $0.status == .notFound })
                let token = try customer.token
                let linked = try await admin.post("/v1/link", ["userID": "ada", "accessToken": token])
                #expect(linked.problem?.code == .malformedRequest, "\(linked.text)")
                for path in ["/timeline", "/export"] {
                    #expect(try await admin.get(try customer.path(path)).status == .notFound)
                }
                #expect(try await admin.get("/v1/admin/customers?id=704000000000000001").found.isEmpty)
                #expect(try await admin.get("/v1/admin/customers?id=\(customer.id)").found.isEmpty)
                let entries = try await admin.get("/v1/admin/audit").entries
                #expect(entries.map { $0["action"] as? String } == ["erase", "link", "grant"])
                #expect(entries.allSatisfy { $0["customer"] as? String == customer.id })
                #expect(entries.allSatisfy { $0["actor"] as? String == "adminKey" })
                #expect(entries.allSatisfy { $0["detail"] as? [String: String] == ["refused": "noSuchCustomer"] })
            }
        }
    }
}

@Suite struct `remembered addresses of wrong admin keys` {
    @Test func `in a full table, ended windows make room, and an address over its limit stays there`() {
        let (limit, now) = (WrongKeyLimit(), Calculator.now)
        for number in 1..<WrongKeyLimit.capacity { _ = limit.countWrongKey(from: "old \(number)", now: now) }
        for _ in 0..<WrongKeyLimit.limit { _ = limit.countWrongKey(from: "active", now: now + 30) }
        #expect(limit.countWrongKey(from: "old 1", now: now + 30) == 2)
        #expect(limit.count == WrongKeyLimit.capacity)
        #expect(limit.countWrongKey(from: "new", now: now + 60) == 1)
        #expect(limit.count == 2 && limit.wait(for: "active", now: now + 60) == 30)
        #expect(limit.wait(for: "new", now: now + 60) == nil)
    }

    @Test func `a table that is full of current windows is emptied`() {
        let (limit, now) = (WrongKeyLimit(), Calculator.now)
        for number in 0..<WrongKeyLimit.capacity { _ = limit.countWrongKey(from: "\(number)", now: now) }
        #expect(limit.countWrongKey(from: "new", now: now) == 1 && limit.count == 1)
    }

    @Test func `after the clock was set back by more than a minute, the limit of an address ends`() {
        let (limit, now) = (WrongKeyLimit(), Calculator.now)
        for _ in 0..<WrongKeyLimit.limit { _ = limit.countWrongKey(from: "a", now: now) }
        #expect(limit.wait(for: "a", now: now - 60) == 120)
        #expect(limit.wait(for: "a", now: now - 61) == nil)
        #expect(limit.countWrongKey(from: "a", now: now - 61) == 1)
    }
}
