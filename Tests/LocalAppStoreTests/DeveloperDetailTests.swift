import CalculatorSeller
import Foundation
import HTTPTypes
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

/// What a developer's server can change, and what it can't see of other apps.
@Suite struct `details of the App Store Server API` {
    /// Ada has a monthly plan and coins. A second app, `com.example.other`, has no customers.
    private func state() throws -> AppStoreState {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z", url: "https://example.com/hook")
        try state.buy(Shop.monthly, "Ada")
        try state.buy(Shop.coins, "Ada")
        state.add(AppStoreApp(bundleID: "com.example.other", appAppleID: 1, releases: []))
        return state
    }

    @Test func `an app can neither read nor change what customers have in another app`() async throws {
        let state = try state()
        try await withStoreClient(state) { client async throws in
            let (plan, coins) = (state.id(of: state.transactions[0]), state.id(of: state.transactions[1]))
            let app = state.id(of: state.acquisitions[0])
            let consumption: JSONObject = [
                "customerConsented": .boolean(true), "sampleContentProvided": .boolean(false),
                "deliveryStatus": .string("DELIVERED"),
            ]
            let extending: JSONObject = [
                "extendByDays": .integer(14), "extendReasonCode": .integer(1), "requestIdentifier": .string("r1"),
                "productId": .string(Shop.monthly),
            ]
            let history: JSONObject = [
                "startDate": .instant(state.now.addingTimeInterval(-86_400)), "endDate": .instant(state.now),
                "transactionId": .string(plan),
            ]
            let token: JSONObject = ["appAccountToken": .string("0e3a2a3c-0000-4000-8000-000000000001")]
            let requests: [(HTTPRequest.Method, String, JSONObject?, Int)] = [
                (.get, "v1/transactions/\(coins)", nil, 4_040_010),
                (.get, "v1/transactions/appTransactions/\(coins)", nil, 4_040_010),
                (.get, "v1/transactions/appTransactions/\(app)", nil, 4_040_010),
                (.get, "v1/subscriptions/\(plan)", nil, 4_040_010), (.get, "v1/subscriptions/\(app)", nil, 4_040_010),
                (.get, "v2/history/\(coins)", nil, 4_040_010), (.get, "v1/history/\(app)", nil, 4_040_010),
                (.get, "v2/refund/lookup/\(coins)", nil, 4_040_010),
                (.put, "v2/transactions/consumption/\(coins)", consumption, 4_040_010),
                (.put, "v1/transactions/consumption/\(coins)", consumption, 4_040_010),
                (.put, "v1/transactions/\(coins)/appAccountToken", token, 4_040_010),
                (.post, "v1/transactions/\(coins)/finish", nil, 4_040_010),
                (.put, "v1/subscriptions/extend/\(plan)", extending, 4_040_005),
                (.post, "v1/subscriptions/extend/mass", extending, 4_000_023),
                (.post, "v1/notifications/history", history, 4_040_010),
                (.post, "v1/notifications/test", nil, 4_040_007),
            ]
            let before = await client.store.changeCount
            for (method, path, body, code) in requests {
                let answer = try await client.send(method, "/inApps/" + path, body, bundleID: "com.example.other")
                #expect(answer.body.integer("errorCode") == code, "\(method) \(path): \(answer)")
            }
            #expect(await client.store.changeCount == before)
        }
    }

    @Test func `each delivery status and each preference of a refund is stored with its time`() async throws {
        let state = try state()
        try await withStoreClient(state) { client async throws in
            let path = "transactions/consumption/\(state.id(of: state.transactions[1]))"
            var body: JSONObject = ["customerConsented": .boolean(true), "sampleContentProvided": .boolean(true)]
            for status in [
                "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
                "UNDELIVERED_OTHER",
            ] {
                for preference in [nil, "DECLINE", "GRANT_FULL", "GRANT_PRORATED"] {
                    body["deliveryStatus"] = .string(status)
                    body["refundPreference"] = preference.map(JSONValue.string)
                    #expect(try await client.send(.put, "/inApps/v2/\(path)", body).status == 202)
                    let answer = ConsumptionAnswer(
                        date: state.now, deliveryStatus: status, refundPreference: preference)
                    #expect(await client.store.state.consumption == [1: answer])
                }
            }
            let tokens: [(Int64, String?)] = [(2, nil), (3, ""), (4, "0e3a2a3c-0000-4000-8000-000000000001")]
            for (number, token) in tokens {
                var former: JSONObject = [
                    "customerConsented": .boolean(true), "sampleContentProvided": .boolean(false),
                ]
                for name in [
                    "accountTenure", "consumptionStatus", "lifetimeDollarsPurchased", "lifetimeDollarsRefunded",
                    "platform", "playTime", "userStatus",
                ] { former[name] = .integer(0) }
                former["deliveryStatus"] = .integer(number)
                former["appAccountToken"] = token.map(JSONValue.string)
                #expect(try await client.send(.put, "/inApps/v1/\(path)", former).status == 202)
                let answer = await client.store.state.consumption[1]
                #expect(answer?.deliveryStatus == "\(number)" && answer?.refundPreference == nil)
            }
        }
    }

    @Test func `two apps may use the same identifier of a mass extension, and each knows only its own extension`()
        async throws
    {
        var state = try state()
        let plan = "com.example.notes.plan"
        state.add(
            AppStoreApp(
                bundleID: "com.example.notes", appAppleID: 2, releases: [],
                products: [AppStoreProduct(id: plan, type: .autoRenewable, price: 990)]))
        try await withStoreClient(state) { client async throws in
            let path = "/inApps/v1/subscriptions/extend/mass"
            func extend(_ product: String, by bundleID: String) async throws -> Int? {
                let body: JSONObject = [
                    "extendByDays": .integer(1), "extendReasonCode": .integer(1), "requestIdentifier": .string("r1"),
                    "productId": .string(product),
                ]
                let answer = try await client.send(.post, path, body, bundleID: bundleID)
                return answer.body.integer("errorCode") ?? answer.status
            }
            func succeeded(_ product: String, for bundleID: String) async throws -> Int? {
                let answer = try await client.get("\(path)/\(product)/r1", bundleID: bundleID)
                return answer.body.integer("errorCode") ?? answer.body.integer("succeededCount")
            }
            #expect(try await extend(Shop.monthly, by: Shop.bundleID) == 200)
            #expect(try await succeeded(Shop.monthly, for: Shop.bundleID) == 1)
            #expect(try await succeeded(Shop.monthly, for: "com.example.notes") == 4_040_009)
            #expect(try await extend(plan, by: "com.example.notes") == 200)
            #expect(try await succeeded(plan, for: "com.example.notes") == 0)
            #expect(try await succeeded(plan, for: Shop.bundleID) == 4_040_009)
            #expect(try await extend(Shop.monthly, by: Shop.bundleID) == 4_000_011)
            #expect(try await extend(plan, by: "com.example.notes") == 4_000_011)
        }
    }

    @Test func `an extension of a renewal date is answered with the line item of the current period`() async throws {
        var state = try state()
        state.advance(to: Shop.date("2026-01-20"))
        let renewal = try #require(state.transactions.last)
        #expect(renewal.index == 2 && renewal.originalTransaction == 0)
        try await withStoreClient(state) { [state] client async throws in
            let answer = try await client.send(
                .put, "/inApps/v1/subscriptions/extend/\(state.id(of: state.transactions[0]))",
                [
                    "extendByDays": .integer(3), "extendReasonCode": .integer(0), "requestIdentifier": .string("r1"),
                ])
            let extended = await client.store.state
            let jws = try Shop.signer.transaction(extended.transactions[2], in: extended)
            let payload = try Shop.verifier.verifyTransaction(Array(jws.utf8), now: nil).payload
            #expect(payload.expiresDate == Shop.date("2026-02-20T12:00:00Z"))
            #expect(answer.body.text("webOrderLineItemId") == payload.webOrderLineItemID)
            #expect(payload.webOrderLineItemID != nil)
            let end = Shop.date("2026-02-20T12:00:00Z").timeIntervalSince1970
            #expect(answer.body.integer("effectiveDate") == Int(end) * 1000)
            #expect(extended.transactions[0].expiresDate == state.transactions[0].expiresDate)
        }
    }

    @Test func `version 1 of the transaction history leaves out only finished consumables`() async throws {
        let state = try state()
        try await withStoreClient(state) { client async throws in
            func listed() async throws -> Int {
                let path = "/inApps/v1/history/\(state.id(of: state.transactions[0]))"
                return try await client.get(path).body.list("signedTransactions").count
            }
            #expect(try await listed() == 2)
            for (index, count) in [(0, 2), (1, 1)] {
                let id = state.id(of: state.transactions[index])
                #expect(try await client.send(.post, "/inApps/v1/transactions/\(id)/finish").status == 200)
                #expect(try await listed() == count)
            }
        }
    }

    @Test func `artifacts of the sandbox have no dates and numbers of production`() throws {
        var state = Shop.state(.sandbox)
        try state.addCustomer("Olga")
        try state.acquire("Olga", preorderDate: Shop.date("2014-08-01"))
        let payload = try Shop.payload(state, "Olga")
        #expect(payload.preorderDate == nil && payload.versionExternalIdentifier == nil)
        #expect(payload.applicationVersion == "37" && payload.appTransactionID == state.id(of: state.acquisitions[0]))
        let bytes = try Shop.signer.receipt(of: state.acquisitions[0], in: state, device: state.accounts[0].devices[0])
        let receipt = try Shop.verifier.verifyReceipt(bytes, now: state.now).payload
        #expect(receipt.downloadID == 0 && receipt.versionExternalIdentifier == 0 && receipt.preorderDate == nil)
        #expect(receipt.originalPurchaseDate == Shop.date("2013-08-01T07:00:00Z") && receipt.appVersion == "37")
    }

    @Test func `the outcomes of deliveries have Apple's names`() {
        #expect(
            SendAttemptResult.allCases.map(\.rawValue) == [
                "SUCCESS", "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE",
                "UNSUPPORTED_CHARSET", "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
                "OTHER",
            ])
        for (status, result) in [(199, SendAttemptResult.unsuccessfulStatus), (200, .success), (206, .success)] {
            #expect(SendAttemptResult(status: status) == result)
        }
    }
}
