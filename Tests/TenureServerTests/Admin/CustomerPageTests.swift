import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// The exact fields that support sees about a customer.
@Suite struct `what support sees about a customer` {
    private static let id = "704000000000000001"

    @Test func `each kind of entry of a customer's timeline has its own fields, and entries are in order`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner(Self.id)
            let notification = try Calculator.minter().text(
                .notification, ["subtype": .string("BILLING_RECOVERY")])
            #expect(try await admin.client.notify(notification).status == .ok)
            let grant = ["entitlement": "everything", "reason": "r", "until": "2027-01-01T00:00:00Z"]
            #expect(try await admin.post(try owner.path("/grants"), grant).status == .ok)
            let revocation = ["entitlement": "everything", "reason": "s"]
            #expect(try await admin.post(try owner.path("/revocations"), revocation).status == .ok)
            let kinds = ["acquired", "purchase", "artifact", "notification", "promise", "grant", "revocation"]
            let entries = try await admin.get(try owner.path("/timeline")).entries
            let shown = entries.compactMap { $0 as? [String: String] }.filter { kinds.contains($0["kind"] ?? "") }
            let now = "2026-11-20T12:00:00Z"
            let expected: [[String: String]] = [
                [
                    "at": "2014-09-06T10:00:00Z", "kind": "acquired", "platform": "iOS", "version": "37",
                    "appTransactionID": Self.id,
                ],
                [
                    "at": "2026-11-19T11:59:00Z", "kind": "purchase", "product": Calculator.yearly,
                    "transactionID": "410000000000022", "expires": "2027-11-19T11:59:00Z",
                ],
                [
                    "at": now, "kind": "artifact", "artifact": "appTransaction",
                    "signed": "2026-11-20T11:59:00Z",
                ],
                [
                    "at": now, "kind": "notification", "type": "DID_RENEW", "subtype": "BILLING_RECOVERY",
                    "signed": "2026-11-20T11:59:00Z",
                ],
                ["at": now, "kind": "promise", "entitlement": "everything", "policy": "1"],
                [
                    "at": now, "kind": "grant", "entitlement": "everything", "until": "2027-01-01T00:00:00Z",
                    "reason": "r", "actor": "adminKey",
                ],
                // A later action of support gets a later time, so that it overrides the action before.
                [
                    "at": "2026-11-20T12:00:00.001Z", "kind": "revocation", "entitlement": "everything",
                    "reason": "s", "actor": "adminKey",
                ],
            ]
            #expect(shown == expected)
        }
    }

    @Test func `support sees the promises, grants, devices and merged customers of a customer`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner(Self.id)
            _ = try await admin.owner(Self.id)
            let other = try await admin.newcomer()
            let merge = ["other": other.id, "reason": "one person"]
            #expect(try await admin.post(try owner.path("/merges"), merge).status == .ok)
            let grant = ["entitlement": "everything", "reason": "r", "until": "2027-01-01T00:00:00Z"]
            #expect(try await admin.post(try owner.path("/grants"), grant).status == .ok)
            let now = "2026-11-20T12:00:00Z"
            let text = try await admin.get(try owner.path()).text
            let parts: [String] = [
                #""createdAt":"\#(now)","mergedCustomers":[{"id":"cus_"#,
                #"{"id":"\#(owner.id)","createdAt":"\#(now)"}"#, #"{"id":"\#(other.id)","createdAt":"\#(now)"}"#,
                #"{"kind":"appTransactionID","value":"\#(Self.id)"}"#,
                #""promises":[{"entitlement":"everything","policy":1,"until":null,"recordedAt":"\#(now)","#
                    + #""acquisition":{"appTransactionID":"\#(Self.id)","#
                    + #""originalPurchaseDate":"2014-09-06T10:00:00Z"}}]"#,
                #""support":[{"kind":"grant","entitlement":"everything","at":"\#(now)","#
                    + #""until":"2027-01-01T00:00:00Z","reason":"r","actor":"adminKey"}]"#,
                // Two customers with one device each: two entitlement tokens for one, and one for the other.
                #""devices":2,"entitlementTokens":3,"artifacts":2}"#,
            ]
            for part in parts { #expect(text.contains(part), "\(part): \(text)") }
        }
    }

    @Test func `an export has at most twenty unbound customers on a page, and the position of the next page`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let minter = Calculator.minter()
            let (owner, other) = (try await admin.owner(Self.id), try await admin.newcomer("704000000000000002"))
            let merge = ["other": other.id, "reason": "one person"]
            #expect(try await admin.post(try owner.path("/merges"), merge).status == .ok)
            func export(_ query: String) async throws -> (ids: [String], next: Int?) {
                let answer = try await admin.get(try owner.path("/export" + query))
                let data = answer.json["data"] as? [String: Any]
                let unbound = data?["unboundCustomers"] as? [[String: Any]] ?? []
                let ids = unbound.compactMap { customer in
                    (customer["artifacts"] as? [[String: Any]])?.compactMap { $0["jws"] as? String }.joined()
                }
                return (ids, answer.json["nextUnbound"] as? Int)
            }
            // Each list of artifacts without a proof of the device makes another unbound customer. The service keeps
            // the latest twenty of each account.
            func syncUnbound(_ number: Int, _ appTransaction: String, of account: String) async throws {
                let transaction = try minter.transaction("30\(number)", of: account)
                _ = try await admin.client.sync(
                    SyncRequest(appTransaction: appTransaction, transactions: [transaction]), from: nil)
            }
            let appTransaction = try minter.text(.appTransaction, ["appTransactionId": .string(Self.id)])
            for number in 1...20 { try await syncUnbound(number, appTransaction, of: Self.id) }
            let only = try await export("")
            #expect(only.ids.count == 20 && only.next == nil)
            try await syncUnbound(21, try minter.newcomer("704000000000000002"), of: "704000000000000002")
            let first = try await export("")
            let next = try #require(first.next)
            #expect(first.ids == only.ids)
            let second = try await export("?unboundAfter=\(next)")
            #expect(second.ids.count == 1 && second.next == nil && !first.ids.contains(second.ids[0]))
            for bad in ["0", "-1", "x"] {
                let refused = try await admin.get(try owner.path("/export?unboundAfter=\(bad)"))
                #expect(refused.problem?.code == .malformedRequest, "\(bad)")
                #expect(refused.problem?.detail == "`unboundAfter` must be the `nextUnbound` of the previous page")
            }
        }
    }

    @Test func `an export has a receipt in Base64, and an app transaction as it was received`() async throws {
        try await withAdminClient { admin, _ in
            let receipt = try Calculator.receipts().text()
            let appTransaction = try Calculator.minter().text(.appTransaction, ["appTransactionId": .string(Self.id)])
            let customer = try await admin.client.sync(
                SyncRequest(
                    appTransaction: appTransaction,
                    transactions: [try Calculator.minter().transaction("410000000000001", of: Self.id)],
                    receipt: receipt))
            #expect(customer.problems.isEmpty, "\(customer.problems)")
            let data = try await admin.get(try customer.path("/export")).json["data"] as? [String: Any]
            let artifacts = try #require(data?["artifacts"] as? [[String: Any]])
            func only(_ kind: String) -> [String: Any]? { artifacts.first { $0["kind"] as? String == kind } }
            #expect(artifacts.count == 3)
            #expect(only("receipt")?["base64"] as? String == receipt && only("receipt")?["jws"] == nil)
            let own = only("appTransaction")
            #expect(own?["jws"] as? String == appTransaction && own?["base64"] == nil)
        }
    }

    @Test func `an export has the dates of a customer's artifacts, notifications, devices, events and audit`()
        async throws
    {
        let clock = TestClock()
        try await withService({
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        }) { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let owner = try await admin.owner(Self.id)
            clock.advance(by: 60)
            let notification = try Calculator.minter().text(
                .notification, ["subtype": .string("BILLING_RECOVERY")])
            #expect(try await client.notify(notification).status == .ok)
            clock.advance(by: 60)
            _ = try await admin.owner(Self.id)
            #expect(try await admin.post(try owner.path("/links"), ["userID": "ada"]).status == .ok)
            let export = try await admin.get(try owner.path("/export"))
            #expect(export.json["exportedAt"] as? String == "2026-11-20T12:02:00Z")
            let data = try #require(export.json["data"] as? [String: Any])
            func rows(_ name: String) -> [[String: Any]] { data[name] as? [[String: Any]] ?? [] }
            let artifacts = rows("artifacts").map { row in
                ["kind", "signedAt", "receivedAt"].map { row[$0] as? String }
            }
            #expect(artifacts == [["appTransaction", "2026-11-20T11:59:00Z", "2026-11-20T12:00:00Z"]])
            #expect(
                rows("notifications").map { $0 as? [String: String] } == [
                    [
                        "kind": "DID_RENEW", "subtype": "BILLING_RECOVERY", "signedAt": "2026-11-20T11:59:00Z",
                        "receivedAt": "2026-11-20T12:01:00Z", "jws": notification,
                    ]
                ])
            let devices = rows("devices")
            #expect(devices.map { $0["device"] as? String } == [Calculator.device.hashed])
            #expect(devices.map { $0["firstSeen"] as? String } == ["2026-11-20T12:00:00Z"])
            #expect(devices.map { $0["lastSeen"] as? String } == ["2026-11-20T12:02:00Z"])
            #expect(devices.map { $0["entitlementTokens"] as? Int } == [2])
            let linked = try #require(rows("events").first { $0["kind"] as? String == "linked" })
            #expect(linked["at"] as? String == "2026-11-20T12:02:00Z" && linked["actor"] as? String == "adminKey")
            // The entry about this export is written after the data was read.
            #expect(rows("audit").map { $0["action"] as? String } == ["link"])
            #expect(rows("audit").map { $0["at"] as? String } == ["2026-11-20T12:02:00Z"])
        }
    }
}
