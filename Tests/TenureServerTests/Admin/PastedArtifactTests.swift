import Foundation
import HTTPTypes
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

/// What the search by a pasted artifact says about the artifact.
@Suite struct `a pasted artifact` {
    private static let account = "704000000000000001"
    private static let token = "7e3f1b52-0c5d-4b59-9b0e-0d4f1c2a3b4c"

    /// Returns what the search says about an artifact.
    private func described(_ artifact: String, _ admin: AdminClient) async throws -> [String: Any] {
        let answer = try await admin.post("/v1/admin/customers/find", ["artifact": artifact])
        return try #require(answer.json["artifact"] as? [String: Any], "\(answer.text)")
    }

    @Test func `the IDs in a pasted artifact are listed once, the account's ID first, then those of nested artifacts`()
        async throws
    {
        let minter = Calculator.minter()
        let transaction = try minter.text(
            .transaction,
            [
                "transactionId": .string("12"), "originalTransactionId": .string("11"),
                "appAccountToken": .string(Self.token),
            ])
        let first = try minter.text(
            .transaction, ["transactionId": .string("11"), "originalTransactionId": .string("11")])
        let cases: [(artifact: String, kind: String, ids: [String])] = [
            (transaction, "transaction", [Self.account, "11", "12", Self.token]),
            (first, "transaction", [Self.account, "11"]),
            (try minter.text(.appTransaction), "appTransaction", [Self.account]),
            (
                try minter.text(.notification), "notification",
                [Self.account, "410000000000020", "410000000000022"]
            ),
            (try Calculator.receipts().text(), "receipt", ["500000000000037", "410000000000001"]),
            // Receipts of the sandbox have the download ID 0, which identifies no customer.
            (try Calculator.receipts(.sandbox).text(), "receipt", ["410000000000001"]),
        ]
        try await withAdminClient { admin, _ in
            for (artifact, kind, ids) in cases {
                let described = try await described(artifact, admin)
                #expect(described["kind"] as? String == kind && described["status"] as? String == "verified")
                #expect(described["ids"] as? [String] == ids, "\(described)")
                #expect(described["rejection"] == nil)
            }
        }
    }

    @Test func `a pasted artifact that can't be verified is described with the reason, and at most a hundred IDs`()
        async throws
    {
        let forged = try ServerSigned.forged()
        let list = (1...120).map { #"{"transaction_id":"\#($0)"}"# }.joined(separator: ",")
        let unsigned = #"{"status":0,"environment":"Production","latest_receipt_info":[\#(list)]}"#
        try await withAdminClient { admin, _ in
            let rejected = try await described(forged, admin)
            #expect(rejected["status"] as? String == "rejected")
            let rejection = rejected["rejection"] as? [String: String]
            #expect(rejection?["code"] == "badSignature" && rejection?["detail"]?.isEmpty == false, "\(rejected)")
            let response = try await described(unsigned, admin)
            #expect(response["status"] as? String == "unsigned" && response["kind"] as? String == "verifyReceipt")
            #expect(response["ids"] as? [String] == (1...100).map { "\($0)" })
        }
    }

    @Test func `a pasted app transaction that the App Store signed for a server is verified, and finds its customer`()
        async throws
    {
        let artifact = try ServerSigned.appTransaction()
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let answer = try await admin.post("/v1/admin/customers/find", ["artifact": artifact])
            #expect(answer.found == [owner.id])
            let described = try #require(answer.json["artifact"] as? [String: Any], "\(answer.text)")
            #expect(described["status"] as? String == "verified" && described["rejection"] == nil, "\(described)")
            #expect(described["kind"] as? String == "appTransaction")
            #expect(described["ids"] as? [String] == [Self.account])
        }
    }

    @Test func `a search by an artifact finds each customer of its IDs, in the order of the IDs`() async throws {
        try await withAdminClient { admin, _ in
            // The user ID of one customer in the app equals the transaction ID of the other customer's artifact.
            let namesake = try await admin.newcomer()
            #expect(try await admin.post(try namesake.path("/links"), ["userID": "12"]).status == .ok)
            let owner = try await admin.owner()
            let artifact = try Calculator.minter().text(
                .transaction, ["transactionId": .string("12"), "originalTransactionId": .string("11")])
            let answer = try await admin.post("/v1/admin/customers/find", ["artifact": artifact])
            #expect(answer.found == [owner.id, namesake.id])
            let found = answer.json["customers"] as? [[String: Any]] ?? []
            #expect(found.map { $0["environment"] as? String } == ["Production", "Production"])
            #expect(found.map { $0["createdAt"] as? String } == Array(repeating: "2026-11-20T12:00:00Z", count: 2))
            #expect(found.allSatisfy { $0["isTest"] as? Bool == true })
        }
    }
}
