import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `support actions` {
    @Test func `a support grant and revocation take effect, and the timeline and audit trail have their reasons`()
        async throws
    {
        try await withAdminClient { admin, keys in
            let support = admin.with(keys[.support])
            let customer = try await admin.newcomer()
            #expect(customer.entitlements["everything"]?.outcome == .denied)
            let granted = try await support.post(
                try customer.path("/grants"),
                ["entitlement": "everything", "reason": "bought it twice", "until": "2027-01-01T00:00:00Z"])
            #expect(granted.outcome("everything") == "granted", "\(granted.text)")
            // The customer's next read shows the grant.
            let token = try #require(customer.accessToken?.value)
            let seen = try await admin.client.customer(token)
            #expect(seen.entitlements["everything"]?.outcome == .granted)
            #expect(seen.entitlements["everything"]?.reasons.first?.code == "supportGrant")
            #expect(seen.entitlements["everything"]?.until == Date(rfc3339: "2027-01-01T00:00:00Z"))
            let revoked = try await support.post(
                try customer.path("/revocations"), ["entitlement": "everything", "reason": "a mistake"])
            #expect(revoked.outcome("everything") == "denied", "\(revoked.text)")

            let timeline = try await support.get(try customer.path("/timeline"))
            #expect(
                timeline.kinds == ["acquired", "artifact", "purchasesComplete", "grant", "revocation"],
                "\(timeline.text)")
            #expect(timeline.entries.compactMap { $0["reason"] as? String } == ["bought it twice", "a mistake"])
            #expect(timeline.entries.compactMap { $0["actor"] as? String } == ["support", "support"])
            let lines = try await admin.get("/v1/admin/audit?customer=\(try customer.publicID)").entries
            #expect(lines.compactMap { $0["action"] as? String } == ["revoke", "grant"])
            #expect((lines.last?["detail"] as? [String: Any])?["reason"] as? String == "bought it twice")
        }
    }

    @Test func `support can't grant an entitlement to an unbound customer, but can revoke it`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let artifacts = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let body: [String: Any?] = ["entitlement": "everything", "reason": "r"]
            let unbound = try await admin.client.sync(artifacts, from: nil)
            #expect(unbound.entitlements["everything"]?.outcome == .granted)
            #expect(try await admin.post(try owner.path("/revocations"), body).status == .ok)
            let refused = try await admin.post(try unbound.path("/grants"), body)
            #expect(refused.status == .conflict && refused.problem?.reason == "unboundProof", "\(refused.text)")
            #expect(try await admin.client.sync(artifacts, from: nil).entitlements["everything"]?.outcome == .denied)
            // The grant would also have reached a sync of these artifacts from another device.
            let copy = try await admin.client.sync(artifacts, from: UUID())
            #expect(copy.entitlements["everything"]?.outcome == .denied)
            #expect(try await admin.post(try unbound.path("/revocations"), body).status == .ok)
        }
    }

    @Test func `support can revoke an entitlement that the policy lacks, if the customer has a promise of it`()
        async throws
    {
        try await withFolder { folder in
            let request = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
            let owner = try await withService(in: folder) { try await $0.sync(request) }
            let usual = try Calculator.policy()
            let renamed = try Policy(
                app: usual.app, eras: usual.eras, buildNumbers: .increasing,
                entitlements: [Entitlement(name: "all", honors: [Honor(era: "paid")])])
            try await withService(in: folder, policy: renamed, { $0.adminKey = AdminClient.adminKey }) { client in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                #expect(try await admin.get(try owner.path()).outcome("everything") == "granted")
                let revocation: [String: Any?] = ["entitlement": "everything", "reason": "a mistake"]
                let revoked = try await admin.post(try owner.path("/revocations"), revocation)
                #expect(revoked.outcome("everything") == "denied", "\(revoked.text)")
                let other = try await admin.newcomer()
                let refused = try await admin.post(try other.path("/revocations"), revocation)
                #expect(refused.problem?.code == .malformedRequest, "\(refused.text)")
            }
        }
    }

    @Test func `support can't merge a production customer with a sandbox customer`() async throws {
        try await withAdminClient { admin, _ in
            let (owner, tester) = (try await admin.owner(), try await admin.sandboxed(as: nil))
            for (customer, other) in [(owner, tester), (tester, owner)] {
                let refused = try await admin.post(
                    try customer.path("/merges"), ["other": try other.publicID, "reason": "r"])
                #expect(refused.problem?.code == .conflict && refused.problem?.reason == "otherEnvironment")
                #expect(refused.problem?.detail.contains("different environments") == true, "\(refused.text)")
            }
            #expect(try await admin.client.customer(try tester.token).everything.outcome == "denied")
        }
    }

    // PostgreSQL can't store text with a NUL character.
    @Test func `control characters in support requests are refused`() async throws {
        try await withAdminClient { admin, _ in
            let path = try await admin.newcomer().path()
            let grant: [String: Any?] = ["entitlement": "everything", "reason": "bought\u{0}twice"]
            #expect(try await admin.post(path + "/grants", grant).problem?.code == .malformedRequest)
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/admin/customers/cus%00"), (.get, "/v1/admin/customers/a%0Ab/timeline"),
                (.delete, path + "?reason=a%00b"), (.delete, path + "/links/a%00b"), (.delete, path + "/merges/%7F"),
            ] {
                let answer = try await admin.send(method, path)
                #expect(answer.problem?.code == .malformedRequest, "\(path): \(answer.text)")
            }
            let words = "two\nlines\tand “quotes”"
            let granted = try await admin.post(path + "/grants", ["entitlement": "everything", "reason": words])
            #expect(granted.outcome("everything") == "granted", "\(granted.text)")
            // An ID in an unsigned text is searched as if it had been typed.
            let forged = "e30." + Data(#"{"appTransactionId":"7\u0000"}"#.utf8).base64EncodedString() + ".c2ln"
            let found = try await admin.post("/v1/admin/customers/find", ["artifact": forged])
            #expect(found.status.code < 500, "\(found.text)")
        }
    }

    @Test func `an invalid support request changes nothing, and its error says what is wrong`() async throws {
        try await withAdminClient { admin, _ in
            let customer = try await admin.newcomer()
            let grants = try customer.path("/grants")
            let cases: [([String: Any?], String)] = [
                (["entitlement": "everything"], "`reason`"), (["reason": "r"], "`entitlement`"),
                (["entitlement": "everything", "reason": "  "], "`reason`"),
                (["entitlement": "everything", "reason": String(repeating: "r", count: 2000)], "`reason`"),
                (["entitlement": "nothing", "reason": "r"], "`everything`"),
                (["entitlement": 7, "reason": "r"], "`entitlement`"),
                (["entitlement": "everything", "reason": "r", "until": "tomorrow"], "`until`"),
                (["entitlement": "everything", "reason": "r", "until": "2020-01-01T00:00:00Z"], "past"),
                (["entitlement": "everything", "reason": "r", "untill": "2030-01-01T00:00:00Z"], "`untill`"),
            ]
            for (body, words) in cases {
                let problem = try await admin.post(grants, body).problem
                #expect(problem?.code == .malformedRequest, "\(body)")
                #expect(problem?.detail.contains(words) == true, "\(problem?.detail ?? "")")
            }
            // A revocation can't have an end.
            let revocation = try await admin.post(
                try customer.path("/revocations"),
                ["entitlement": "everything", "reason": "r", "until": "2030-01-01T00:00:00Z"])
            #expect(revocation.problem?.detail.contains("`until`") == true)
            let unknown = try await admin.post(
                "/v1/admin/customers/cus_nobody/grants", ["entitlement": "everything", "reason": "r"])
            #expect(unknown.problem?.code == .notFound && unknown.problem?.reason == "noSuchCustomer")
            let shown = try await admin.get(try customer.path())
            #expect(shown.outcome("everything") == "denied" && (shown.json["support"] as? [Any])?.count == 0)
        }
    }

    @Test func `a support request that is repeated with its ID takes effect once`() async throws {
        try await withAdminClient { admin, _ in
            let customer = try await admin.newcomer()
            let path = try customer.path("/grants")
            let body = ["entitlement": "everything", "reason": "r"]
            for _ in 0..<3 { #expect(try await admin.post(path, body, request: "one").status == .ok) }
            let shown = try await admin.get(try customer.path()).json
            #expect((shown["support"] as? [Any])?.count == 1)
            let other = try await admin.post(
                try customer.path("/revocations"), ["entitlement": "everything", "reason": "r"], request: "one")
            #expect(other.problem?.code == .conflict && other.problem?.reason == "requestReused")
        }
    }

    @Test func `support sees a customer's entitlements with reasons, IDs and promises`() async throws {
        try await withAdminClient { admin, keys in
            let transaction = try Calculator.minter().text(
                .transaction,
                [
                    "appTransactionId": .string("704000000000000001"),
                    "appAccountToken": .string("7E3F1B52-0C5D-4B59-9B0E-0D4F1C2A3B4C"),
                ])
            let customer = try await admin.owner(transactions: [transaction])
            let answer = try await admin.with(keys[.read]).get(try customer.path())
            #expect(answer.outcome("everything") == "granted")
            #expect(answer.text.contains("\"sentence\""))
            #expect(answer.text.contains("\"eraHonored\""))
            let kinds = (answer.json["identities"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String }
            #expect(Set(kinds) == ["appTransactionID", "originalTransactionID", "appAccountToken", "device"])
            #expect((answer.json["promises"] as? [[String: Any]])?.first?["entitlement"] as? String == "everything")
            #expect(answer.json["artifacts"] as? Int == 2)
            #expect(try await admin.get("/v1/admin/customers/cus_nobody").problem?.code == .notFound)
        }
    }

    @Test func `the pages of a long timeline together contain each entry once`() async throws {
        try await withAdminClient { admin, _ in
            let minter = Calculator.minter()
            let customer = try await admin.owner(
                transactions: (0..<12).map { number in
                    try minter.transaction("10\(number)", of: "704000000000000001")
                })
            let whole = try await admin.get(try customer.path("/timeline"))
            #expect(whole.json["next"] is NSNull)
            #expect(whole.entries.count == 28, "\(whole.kinds)")
            func texts(_ entries: [[String: Any]]) throws -> [Data] {
                try entries.map { try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) }
            }
            var paged: [Data] = []
            var after = 0
            for _ in 0..<10 {
                let page = try await admin.get(try customer.path("/timeline?limit=5&after=\(after)"))
                #expect(page.entries.count <= 5)
                paged += try texts(page.entries)
                guard let next = page.json["next"] as? Int else { break }
                after = next
            }
            #expect(try paged == texts(whole.entries))
            for bad in ["limit=0", "limit=501", "limit=x", "after=-1", "after=9999999999999999999"] {
                #expect(try await admin.get(try customer.path("/timeline?\(bad)")).problem?.code == .malformedRequest)
            }
        }
    }

    @Test func `a customer's timeline shows a refund at the date of the refund`() async throws {
        try await withAdminClient { admin, _ in
            let refund = Calculator.now.addingTimeInterval(-3600)
            let customer = try await admin.owner(transactions: [
                try Calculator.minter().text(
                    .transaction, ["revocationDate": .instant(refund), "revocationReason": .number("0")])
            ])
            let refunds = try await admin.get(try customer.path("/timeline")).entries.filter {
                $0["kind"] as? String == "refund"
            }
            #expect(refunds.count == 1)
            #expect(refunds.first?["at"] as? String == refund.rfc3339)
        }
    }

    @Test
    func `a support request's ID can't be used again for another customer, but by requests with another admin key`()
        async throws
    {
        try await withAdminClient { admin, keys in
            let (customer, other) = (try await admin.newcomer(), try await admin.owner())
            let body = ["entitlement": "everything", "reason": "r"]
            #expect(try await admin.post(try customer.path("/grants"), body, request: "one").status == .ok)
            let reused = try await admin.post(try other.path("/grants"), body, request: "one")
            #expect(reused.problem?.reason == "requestReused")
            let shown = try await admin.get(try other.path()).json
            #expect((shown["support"] as? [Any])?.count == 0)
            let support = admin.with(keys[.support])
            let revoked = try await support.post(try customer.path("/revocations"), body, request: "one")
            #expect(revoked.outcome("everything") == "denied", "\(revoked.text)")
        }
    }

    @Test func `a support request's ID can't be used again for a grant with another end, and the first grant stays`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let customer = try await admin.newcomer()
            func grant(until: String) async throws -> AdminClient.Answer {
                let body = ["entitlement": "everything", "reason": "r", "until": until]
                return try await admin.post(try customer.path("/grants"), body, request: "one")
            }
            #expect(try await grant(until: "2027-01-01T00:00:00Z").status == .ok)
            let reused = try await grant(until: "2028-01-01T00:00:00Z")
            #expect(reused.problem?.code == .conflict && reused.problem?.reason == "requestReused", "\(reused.text)")
            #expect(try await grant(until: "2027-01-01T00:00:00Z").status == .ok)
            let seen = try await admin.client.customer(try customer.token)
            #expect(seen.entitlements["everything"]?.until == Date(rfc3339: "2027-01-01T00:00:00Z"))
            let shown = try await admin.get(try customer.path()).json
            #expect((shown["support"] as? [Any])?.count == 1)
        }
    }

    @Test func `the pages of the audit trail contain each line once, for one customer and for all customers`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let (customer, other) = (try await admin.newcomer(), try await admin.owner())
            for reason in ["1", "2", "3", "4", "5"] {
                for path in [try customer.path(), try other.path()] {
                    let body = ["entitlement": "everything", "reason": reason]
                    #expect(try await admin.post(path + "/grants", body).status == .ok)
                }
            }
            func pages(_ filter: String) async throws -> [[[String: Any]]] {
                var pages: [[[String: Any]]] = []
                var before = ""
                while pages.count < 20 {
                    let page = try await admin.get("/v1/admin/audit?limit=2\(filter)\(before)")
                    pages.append(page.entries)
                    guard let next = page.json["next"] as? Int else { break }
                    before = "&before=\(next)"
                }
                return pages
            }
            let about = try await pages("&customer=\(try customer.publicID)")
            #expect(about.map(\.count) == [2, 2, 1])
            let reasons = about.flatMap(\.self).compactMap { ($0["detail"] as? [String: Any])?["reason"] as? String }
            #expect(reasons == ["5", "4", "3", "2", "1"])
            let whole = try await admin.get("/v1/admin/audit?limit=500")
            #expect(whole.json["next"] is NSNull)
            let ids = whole.entries.compactMap { $0["id"] as? Int }
            #expect(ids.count >= 10 && ids == ids.sorted(by: >))
            #expect(try await pages("").flatMap(\.self).compactMap { $0["id"] as? Int } == ids)
            for bad in ["limit=0", "limit=501", "before=0", "before=x", "customer=a%0Ab"] {
                #expect(try await admin.get("/v1/admin/audit?\(bad)").problem?.code == .malformedRequest, "\(bad)")
            }
        }
    }
}
