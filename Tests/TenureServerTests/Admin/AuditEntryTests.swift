import Foundation
import HTTPTypes
import TenureAPI
import TenureAppStore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// What the audit trail has about each request, and how a refused change is answered.
@Suite struct `entries of the audit trail` {
    /// Returns the entries of requests, the oldest first, each in one line: actor, action, customer, detail. `names`
    /// replaces public IDs.
    private func lines(_ admin: AdminClient, _ names: [String: String]) async throws -> [String] {
        let entries = try await admin.get("/v1/admin/audit?limit=500").entries
        return entries.reversed().compactMap { entry in
            func text(_ name: String) -> String { (entry[name] as? String).map { names[$0] ?? $0 } ?? "-" }
            guard text("actor") != "tests" else { return nil }
            #expect(text("at") == "2026-11-20T12:00:00Z")
            let detail = (entry["detail"] as? [String: String] ?? [:]).sorted { $0.key < $1.key }
            let fields = detail.map { "\($0.key)=\(names[$0.value] ?? $0.value)" }
            return ([text("actor"), text("action"), text("customer")] + fields).joined(separator: " | ")
        }
    }

    @Test func `each change, export and refusal is in the audit trail, with its actor, customer and reason`()
        async throws
    {
        try await withAdminClient { admin, keys in
            let (owner, other) = (try await admin.owner(), try await admin.newcomer())
            let (support, server) = (admin.with(keys[.support]), admin.with(keys[.link]))
            _ = try await support.post(
                try owner.path("/grants"),
                ["entitlement": "everything", "reason": " bought twice\n", "until": "2027-01-01T00:00:00Z"])
            _ = try await support.post(
                try owner.path("/revocations"), ["entitlement": "everything", "reason": "a mistake"])
            for isNew in [true, false] {
                let linked = try await server.post(try owner.path("/links"), ["userID": "ada"])
                #expect(
                    linked.text == #"{"customer":"\#(owner.id)","userID":"ada","isLinked":true,"isNew":\#(isNew)}"#)
            }
            let unlinked = try await server.delete(try owner.path("/links/ada?reason=left"))
            #expect(unlinked.text == #"{"customer":"\#(owner.id)","userID":"ada","isLinked":false,"isNew":true}"#)
            _ = try await server.delete(try owner.path("/links/ada"))
            for _ in 0..<2 {
                _ = try await admin.post(try owner.path("/merges"), ["other": other.id, "reason": "one person"])
            }
            for _ in 0..<2 { _ = try await support.delete(try owner.path("/merges/\(other.id)?reason=two")) }
            _ = try await support.get(try owner.path("/export?reason=asked"))
            _ = try await admin.get(try other.path("/export"))
            _ = try await admin.with(keys[.read]).delete(try owner.path())
            _ = try await admin.with(keys[.policy]).get("/v1/admin/audit")
            let expected: [String] = [
                "support | grant | OWNER | entitlement=everything | reason=bought twice | until=2027-01-01T00:00:00Z",
                "support | revoke | OWNER | entitlement=everything | reason=a mistake",
                "link | link | OWNER | transfer=never",
                "link | link | OWNER | changed=nothing | transfer=never",
                "link | unlink | OWNER | reason=left",
                "link | unlink | OWNER | refused=notLinked",
                "adminKey | merge | OWNER | other=OTHER | reason=one person",
                "adminKey | merge | OWNER | other=OTHER | reason=one person | refused=alreadyMerged",
                "support | unmerge | OWNER | other=OTHER | reason=two",
                "support | unmerge | OWNER | other=OTHER | reason=two | refused=notMerged",
                "support | export | OWNER | reason=asked",
                "adminKey | export | OTHER",
                "read | erase | OWNER | refused=forbidden",
                "policy | audit | - | refused=forbidden",
            ]
            #expect(try await lines(admin, [owner.id: "OWNER", other.id: "OTHER"]) == expected)
        }
    }

    @Test func `creating, replacing and revoking personas is in the audit trail`() async throws {
        try await withAdminClient { admin, keys in
            let policy = admin.with(keys[.policy])
            _ = try await policy.persona("early", more: ["expires": "2026-11-22T12:00:00Z"])
            _ = try await admin.persona("early", more: ["replace": true])
            #expect(try await policy.delete("/v1/admin/personas/early").status == .ok)
            #expect(
                try await lines(admin, [:]) == [
                    "policy | createPersona | - | expires=2026-11-22T12:00:00Z | persona=early",
                    "adminKey | revokePersona | - | persona=early",
                    "adminKey | createPersona | - | expires=2026-12-20T12:00:00Z | persona=early",
                    "policy | revokePersona | - | persona=early",
                ])
        }
    }

    @Test func `a refused change has its own status, code, reason and message`() async throws {
        try await withAdminClient { admin, _ in
            let (owner, other) = (try await admin.owner(), try await admin.newcomer())
            let unknown = "cus_23456789abcdefghijkmnpqr"
            func expect(
                _ answer: AdminClient.Answer, _ code: Problem.Code, _ reason: String, _ detail: String
            ) {
                #expect(Int(answer.status.code) == code.status && answer.problem?.code == code, "\(answer.text)")
                #expect(answer.problem?.reason == reason && answer.problem?.detail == detail, "\(answer.text)")
            }
            let noCustomer = "there is no customer with this ID; check the ID"
            expect(
                try await admin.delete("/v1/admin/customers/\(unknown)"), .notFound, "noSuchCustomer", noCustomer)
            expect(
                try await admin.post(
                    "/v1/admin/customers/\(unknown)/merges", ["other": owner.id, "reason": "r"]),
                .notFound, "noSuchCustomer", noCustomer)
            expect(
                try await admin.post(try owner.path("/merges"), ["other": unknown, "reason": "r"]),
                .notFound, "noSuchOther", "there is no customer with the ID in `other`; check the ID")
            expect(
                try await admin.post(try owner.path("/merges"), ["other": owner.id, "reason": "r"]),
                .conflict, "alreadyMerged", "the customers are already merged; there is nothing to do")
            expect(
                try await admin.delete(try owner.path("/merges/\(other.id)")), .notFound, "notMerged",
                "the other customer isn't merged into this customer; check both IDs")
            expect(
                try await admin.delete(try owner.path("/links/ada")), .notFound, "notLinked",
                "this user isn't linked to this customer; check both IDs")
            let grant = ["entitlement": "everything", "reason": "r"]
            #expect(try await admin.post(try owner.path("/grants"), grant, request: "one").status == .ok)
            expect(
                try await admin.post(try owner.path("/revocations"), grant, request: "one"), .conflict,
                "requestReused", "this `Idempotency-Key` belongs to another change; use a new one")
        }
    }

    @Test func `a refused link or merge says which rule forbids it`() async throws {
        try await withAdminClient { admin, keys in
            let server = admin.with(keys[.link])
            let (owner, other) = (try await admin.owner(), try await admin.newcomer())
            let unbound = try await admin.client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)), from: nil)
            let tester = try await admin.sandboxed(as: nil)
            let merge = ["other": other.id, "reason": "r"]
            #expect(try await admin.post(try owner.path("/merges"), merge).status == .ok)
            #expect(try await admin.delete(try owner.path("/merges/\(other.id)")).status == .ok)
            #expect(try await server.post("/v1/link", ["userID": "ada", "customer": owner.id]).status == .ok)
            let refused = [
                try await server.post("/v1/link", ["userID": "eve", "accessToken": try unbound.token]),
                try await server.post("/v1/link", ["userID": "boris", "customer": owner.id]),
                try await server.post("/v1/link", ["userID": "ada", "customer": other.id]),
                try await admin.post(try owner.path("/merges"), ["other": tester.id, "reason": "r"]),
            ]
            let expected: [[String]] = [
                [
                    "unboundProof",
                    """
                    the customer is unbound: no proof shows that these purchases belong to them; sync with \
                    `deviceVerificationID` on the customer's device first, or find the customer by their \
                    `appTransactionId` or `originalTransactionId`
                    """,
                ],
                [
                    "linkedToAnotherUser",
                    """
                    the Apple Account that got the app is linked to another user, and the setting `transfer` is \
                    `never`; unlink that user first, or ask support
                    """,
                ],
                [
                    "separated",
                    "a merge of these customers was undone; to join them again, merge them in the admin API",
                ],
                [
                    "otherEnvironment",
                    "the customers are in different environments; merge only customers of the same environment",
                ],
            ]
            #expect(refused.map { [$0.problem?.reason ?? "", $0.problem?.detail ?? ""] } == expected)
            #expect(refused.allSatisfy { $0.status == .conflict && $0.problem?.code == .conflict })
        }
    }

    @Test func `requests of the admin API accept texts and numbers up to their limits, and refuse longer ones`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            func grant(_ reason: String, until: String? = nil) async throws -> Int {
                let body: [String: Any?] = ["entitlement": "everything", "reason": reason, "until": until]
                return Int(try await admin.post(try owner.path("/grants"), body).status.code)
            }
            // The limits are in bytes of UTF-8. Whitespace around a reason doesn't count.
            #expect(try await grant(String(repeating: "é", count: 500)) == 200)
            #expect(try await grant(String(repeating: "é", count: 500) + "r") == 400)
            #expect(try await grant(" " + String(repeating: "r", count: 1000) + "\n") == 200)
            #expect(try await grant(String(repeating: "r", count: 1001)) == 400)
            // A grant must end after the present.
            #expect(try await grant("r", until: "2026-11-20T12:00:00Z") == 400)
            #expect(try await grant("r", until: "2026-11-20T12:00:01Z") == 200)
            func linked(_ user: String) async throws -> Int {
                let answer = try await admin.post(try owner.path("/links"), ["userID": user])
                if answer.status == .ok {
                    #expect(try await admin.delete(try owner.path("/links/\(user)")).status == .ok)
                }
                return Int(answer.status.code)
            }
            #expect(try await linked("a") == 200)
            #expect(try await linked(String(repeating: "a", count: 256)) == 200)
            #expect(try await linked(String(repeating: "a", count: 257)) == 400)
            for (query, status) in [
                ("limit=1", 200), ("limit=500", 200), ("limit=0", 400), ("limit=501", 400), ("limit=-1", 400),
            ] {
                for path in ["/v1/admin/audit?", try owner.path("/timeline?")] {
                    #expect(try await admin.get(path + query).status.code == status, "\(path)\(query)")
                }
            }
        }
    }

    @Test func `a page of the audit trail has a hundred entries if the request names no limit`() async throws {
        try await withAdminClient { admin, _ in
            // Five keys of the tests were created, so there are 100 entries, and then 101.
            let owner = try await admin.owner()
            for _ in 0..<95 { _ = try await admin.delete(try owner.path("/links/ada")) }
            let full = try await admin.get("/v1/admin/audit")
            let last = try #require(full.entries.last?["id"] as? Int)
            #expect(full.entries.count == 100 && full.json["next"] as? Int == last)
            #expect(full.entries.last?["action"] as? String == "createKey")
            _ = try await admin.delete(try owner.path("/links/ada"))
            let later = try await admin.get("/v1/admin/audit")
            #expect(later.entries.count == 100 && later.json["next"] as? Int == last + 1)
            let rest = try await admin.get("/v1/admin/audit?before=\(last + 1)")
            #expect(rest.entries.map { $0["id"] as? Int } == [last] && rest.json["next"] is NSNull)
        }
    }
}
