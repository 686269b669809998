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

@Suite struct `finding customers` {
    @Test func `support finds customers by any of their IDs`() async throws {
        try await withAdminClient { admin, keys in
            let minter = Calculator.minter()
            let id = "704000000000000001"
            let renewal = try minter.transaction(
                "2000000000000002", of: id,
                [
                    "originalTransactionId": .string("2000000000000001"),
                    "appAccountToken": .string("7E3F1B52-0C5D-4B59-9B0E-0D4F1C2A3B4C"),
                    "webOrderLineItemId": .string("410000000000777"),
                ])
            let customer = try await admin.owner(id, transactions: [renewal])
            let publicID = try customer.publicID
            _ = try await admin.post(try customer.path("/links"), ["userID": "ada@example.com"])
            let reader = admin.with(keys[.read])
            for name in [
                publicID, id, "2000000000000001", "2000000000000002", "410000000000777", "ada@example.com",
                "ada%40example.com",
                "7e3f1b52-0c5d-4b59-9b0e-0d4f1c2a3b4c", "7E3F1B52-0C5D-4B59-9B0E-0D4F1C2A3B4C",
            ] {
                #expect(try await reader.get("/v1/admin/customers?id=\(name)").found == [publicID], "\(name)")
            }
            // The tests' authority isn't Apple.
            let shown = try await reader.get("/v1/admin/customers?id=\(id)").json["customers"] as? [[String: Any]]
            #expect(shown?.first?["isTest"] as? Bool == true && shown?.first?["environment"] as? String == "Production")
            for name in ["7", "cus_nobody", "2000000000000009"] {
                #expect(try await reader.get("/v1/admin/customers?id=\(name)").found.isEmpty, "\(name)")
            }
            for query in ["", "?id=", "?id=" + String(repeating: "1", count: 300), "?id=a%0Ab"] {
                #expect(try await reader.get("/v1/admin/customers\(query)").problem?.code == .malformedRequest)
            }
        }
    }

    @Test func `support finds customers by the download ID of a receipt`() async throws {
        try await withAdminClient { admin, _ in
            let receipt = try Calculator.receipts().text()
            _ = try await admin.client.sync(SyncRequest(receipt: receipt), from: nil)
            let pasted = try await admin.post("/v1/admin/customers/find", ["artifact": receipt])
            let found = try #require(pasted.found.first)
            let shown = try await admin.get("/v1/admin/customers/\(found)")
            let identities = shown.json["identities"] as? [[String: Any]] ?? []
            let download = try #require(identities.first { $0["kind"] as? String == "downloadID" }?["value"] as? String)
            #expect(try await admin.get("/v1/admin/customers?id=\(download)").found == [found])
        }
    }

    @Test func `support finds customers by the order of a later renewal, and by the orders in a receipt`() async throws
    {
        try await withAdminClient { admin, _ in
            let (minter, id) = (Calculator.minter(), "704000000000000001")
            let (first, second) = ("410000000000701", "410000000000702")
            func renewal(_ transaction: String, order: String) throws -> String {
                try minter.transaction(
                    transaction, of: id,
                    ["originalTransactionId": .string("2000000000000001"), "webOrderLineItemId": .string(order)])
            }
            let bought = try renewal("2000000000000001", order: first)
            let customer = try await admin.owner(id, transactions: [bought])
            #expect(try await admin.get("/v1/admin/customers?id=\(second)").found.isEmpty)
            _ = try await admin.owner(id, transactions: [bought, try renewal("2000000000000002", order: second)])
            for order in [first, second] {
                #expect(try await admin.get("/v1/admin/customers?id=\(order)").found == [customer.id], "\(order)")
            }
            // The receipt is linked to the customer by its purchase.
            let receipt = try Calculator.receipts().text { draft in
                for index in draft.purchases.indices {
                    draft.purchases[index][.webOrderLineItemID] = .number(UInt64(410_000_000_000_801 + index))
                }
            }
            let linked = try await admin.client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string(id)]),
                    transactions: [try minter.transaction("410000000000001", of: id)], receipt: receipt))
            #expect(linked.id == customer.id && linked.problems.isEmpty, "\(linked.problems)")
            #expect(try await admin.get("/v1/admin/customers?id=410000000000801").found == [customer.id])
        }
    }

    @Test func `the zero that a receipt has instead of an order ID finds no customer`() async throws {
        try await withAdminClient { admin, _ in
            let receipt = try Calculator.receipts().text { draft in
                for index in draft.purchases.indices { draft.purchases[index][.webOrderLineItemID] = .number(0) }
            }
            _ = try await admin.client.sync(SyncRequest(receipt: receipt), from: nil)
            #expect(try await admin.post("/v1/admin/customers/find", ["artifact": receipt]).found.count == 1)
            #expect(try await admin.get("/v1/admin/customers?id=0").found.isEmpty)
        }
    }

    @Test func `a search returns a customer once, even if several IDs of a pasted artifact belong to the customer`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let minter = Calculator.minter(signed: Calculator.now)
            let id: [String: JSONValue] = ["appTransactionId": .string("704000000000000001")]
            let transaction = try minter.text(.transaction, id)
            let customer = try await admin.client.sync(
                SyncRequest(appTransaction: try minter.text(.appTransaction, id), transactions: [transaction]))
            let pasted = try await admin.post("/v1/admin/customers/find", ["artifact": transaction])
            #expect(pasted.found == [customer.id])
        }
    }

    @Test func `support finds customers by a pasted artifact, which isn't stored`() async throws {
        try await withAdminClient { admin, keys in
            let customer = try await admin.owner()
            let publicID = try customer.publicID
            let reader = admin.with(keys[.read])
            let later = Calculator.minter(signed: Calculator.now)
            let other = try TestAuthority()
            let forged = JWSMinter(authority: other, app: MintedApp(), signedAt: Calculator.now)
            let id: [String: JSONValue] = ["appTransactionId": .string("704000000000000001")]
            let cases: [(String, String, String)] = [
                (try later.text(.appTransaction, id), "appTransaction", "verified"),
                (try later.text(.transaction, id), "transaction", "verified"),
                (try forged.text(.appTransaction, id), "appTransaction", "rejected"),
                ("  \n" + (try later.text(.appTransaction, id)) + "\n", "appTransaction", "verified"),
            ]
            for (artifact, kind, status) in cases {
                let answer = try await reader.post("/v1/admin/customers/find", ["artifact": artifact])
                let described = answer.json["artifact"] as? [String: Any]
                #expect(described?["kind"] as? String == kind, "\(answer.text)")
                #expect(described?["status"] as? String == status)
                #expect(answer.found == [publicID])
            }
            let response = #"{"status":0,"environment":"Production","latest_receipt_info":[{"transaction_id":"5"}]}"#
            let unsigned = try await reader.post("/v1/admin/customers/find", ["artifact": response])
            #expect((unsigned.json["artifact"] as? [String: Any])?["status"] as? String == "unsigned")
            #expect(unsigned.found.isEmpty)
            #expect(try await admin.get(try customer.path()).json["artifacts"] as? Int == 1, "nothing was recorded")
            for garbage in ["", "hello", "a.b.c", "{}", "MII="] {
                let answer = try await reader.post("/v1/admin/customers/find", ["artifact": garbage])
                #expect(answer.problem?.code == .malformedRequest, "\(garbage): \(answer.text)")
            }
        }
    }
    @Test func `the receipt in a pasted response of verifyReceipt is verified`() async throws {
        try await withAdminClient { admin, _ in
            let stranger = ReceiptMinter(authority: try TestAuthority(), app: MintedApp(), signedAt: Calculator.now)
            let cases = [
                (try Calculator.receipts().text(), "verified"), (try stranger.text(), "rejected"), ("MII=", "rejected"),
            ]
            for (receipt, status) in cases {
                let response = """
                    {"status":0,"environment":"Production","latest_receipt":"\(receipt)",\
                    "latest_receipt_info":[{"transaction_id":"5"}]}
                    """
                let answer = try await admin.post("/v1/admin/customers/find", ["artifact": response])
                let described = answer.json["artifact"] as? [String: Any]
                #expect(described?["kind"] as? String == "verifyReceipt", "\(answer.text)")
                #expect(described?["status"] as? String == status, "\(answer.text)")
                #expect(described?["ids"] as? [String] == ["5"])
            }
        }
    }
}
