import Foundation
import HTTPTypes
import LocalAppStore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `finding a customer by the order ID of an e-mail receipt` {
    private static func ordered(_ local: LocalStoreTestBed) async throws -> (order: String, product: String) {
        try await local.operation(.buy)
        let state = await local.appStore.state
        let transaction = try #require(state.transactions.last)
        return (state.orderID(of: transaction), state.products[transaction.product].id)
    }

    @Test func `a search by order ID finds customers by the transactions that the App Store returns`() async throws {
        try await LocalStoreTestBed.run { local in
            let (order, product) = try await Self.ordered(local)
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, _ in
                    let admin = AdminClient(client: client, key: AdminClient.adminKey)
                    let before = try await admin.get("/v1/admin/orders/\(order)")
                    #expect(before.status == .ok, "\(before.text)")
                    #expect(before.json["isValid"] as? Bool == true && before.found.isEmpty)
                    let purchases = before.json["purchases"] as? [[String: Any]]
                    #expect(purchases?.map { $0["productID"] as? String } == [product])
                    let id = try #require(purchases?.first?["transactionID"] as? String)
                    #expect(try await admin.get("/v1/admin/customers?id=\(id)").found.isEmpty, "nothing is recorded")

                    let synced = try await client.sync(try await local.sync, from: nil)
                    #expect(try await admin.get("/v1/admin/orders/\(order)").found == [synced.id])
                    let spaced = try await admin.get("/v1/admin/orders/%20\(order)%20")
                    #expect(spaced.found.isEmpty, "blanks around an order ID aren't ignored")
                    // Another customer's user ID equals this transaction ID. User IDs aren't signed, so they don't find
                    // an order's customer.
                    let namesake = try await admin.newcomer()
                    #expect(try await admin.post(try namesake.path("/links"), ["userID": id]).status == .ok)
                    #expect(try await admin.get("/v1/admin/orders/\(order)").found == [synced.id])
                    let other = try await admin.get("/v1/admin/orders/MZZZZZZZZZ")
                    #expect(other.json["isValid"] as? Bool == false && other.found.isEmpty)
                }
            }
        }
    }

    @Test func `a search by order ID needs an admin key and a valid key for the App Store`() async throws {
        try await LocalStoreTestBed.run { local in
            let (order, _) = try await Self.ordered(local)
            let path = "/v1/admin/orders/\(order)"
            try await withFolder { folder in
                try await local.service(in: folder, key: nil) { client, _ in
                    #expect(
                        try await AdminClient(client: client, key: nil).get(path).problem?.code == .notAuthenticated)
                    let answer = try await AdminClient(client: client, key: AdminClient.adminKey).get(path)
                    #expect(answer.problem?.code == .misconfigured)
                    #expect(answer.problem?.detail.contains("appStore.privateKeyFile") == true)
                }
            }
            try await withFolder { folder in
                try await local.service(in: folder, key: try ServerAPIKey(seed: "another")) { client, _ in
                    let answer = try await AdminClient(client: client, key: AdminClient.adminKey).get(path)
                    #expect(answer.problem?.code == .misconfigured, "\(answer.text)")
                }
            }
        }
    }

    @Test func `a search by order ID needs a service that accepts production`() async throws {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key, accepting: [.sandbox]) { client, _ in
                    let answer = try await AdminClient(client: client, key: AdminClient.adminKey).get(
                        "/v1/admin/orders/M1")
                    #expect(answer.problem?.code == .misconfigured, "\(answer.text)")
                    #expect(answer.problem?.detail.contains("add `production` to the setting `environments`") == true)
                }
            }
        }
    }

    @Test func `a search by order ID ignores forged and malformed transactions`() async throws {
        let stranger = JWSMinter(
            authority: try TestAuthority(), app: MintedApp(), signedAt: Calculator.now)
        let forged = try stranger.text(.transaction, [:])
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(
                    in: folder, key: local.key,
                    answering: { _ in
                        Self.answer(#"{"status":0,"signedTransactions":["\#(forged)","rubbish"]}"#)
                    }
                ) { client, _ in
                    let answer = try await AdminClient(client: client, key: AdminClient.adminKey).get(
                        "/v1/admin/orders/M1")
                    #expect((answer.json["purchases"] as? [Any])?.isEmpty == true && answer.found.isEmpty)
                    let problems = answer.json["problems"] as? [[String: Any]]
                    #expect(problems?.map { $0["code"] as? String } == ["untrustedChain", "malformed"])
                }
            }
        }
    }

    @Test(arguments: [
        (#"{"signedTransactions":[]}"#, 200, Problem.Code.busy), ("[]", 200, .busy),
        (#"{"errorCode":4000006,"errorMessage":"Invalid"}"#, 400, .malformedRequest),
        (#"{"errorCode":4040010,"errorMessage":"Not found"}"#, 404, .notFound),
        (#"{"errorCode":4030000,"errorMessage":"Forbidden"}"#, 403, .misconfigured),
    ])
    func `a search by order ID turns each App Store error into the matching problem code`(
        body: String, status: Int, code: Problem.Code
    )
        async throws
    {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(
                    in: folder, key: local.key, answering: { _ in Self.answer(body, status) }
                ) { client, _ in
                    let admin = AdminClient(client: client, key: AdminClient.adminKey)
                    let answer = try await admin.get("/v1/admin/orders/M1")
                    #expect(answer.problem?.code == code, "\(answer.text)")
                }
            }
        }
    }

    private static func answer(_ body: String, _ status: Int = 200) -> AppStoreTransport.Answer {
        AppStoreTransport.Answer(status: status, body: Array(body.utf8))
    }
}
