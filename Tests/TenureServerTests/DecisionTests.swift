import Foundation
import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `decisions of a sync` {
    @Test func `a customer who bought the app while it was paid is granted everything by a sync`() async throws {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().text(.appTransaction), transactions: [],
                    deviceVerificationID: Calculator.device.uuidString))
            let everything = try #require(answer.entitlements["everything"])
            #expect(everything.outcome == .granted)
            #expect(everything.until == nil)
            #expect(everything.reasons.first?.code == "eraHonored")
            #expect(everything.reasons.first?.facts["eras"] == .names(["paid"]))
            #expect(everything.sentence.contains("yours permanently"))
            #expect(answer.environment == .production)
            #expect(answer.isTest)
            #expect(answer.problems.isEmpty)
            let token = try #require(answer.accessToken?.value)
            let again = try await client.customer(token)
            #expect(again.id == answer.id)
            #expect(again.entitlements == answer.entitlements)
            #expect(again.purchases == answer.purchases)
        }
    }

    @Test func `a new customer is denied by a sync once all purchases are known`() async throws {
        try await withService { client in
            let appTransaction = try Calculator.minter().newcomer()
            let unknown = try await client.sync(SyncRequest(appTransaction: appTransaction))
            #expect(unknown.entitlements["everything"]?.outcome == .undetermined)
            #expect(unknown.entitlements["everything"]?.nextSteps == [.purchases])
            let known = try await client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
            #expect(known.entitlements["everything"]?.outcome == .denied)
            #expect(known.id == unknown.id)
            #expect(known.purchasesAreComplete)
        }
    }

    @Test func `a purchase grants its entitlements until it is refunded`() async throws {
        try await withService { client in
            let id = "704000000000000002"
            let appTransaction = try Calculator.minter().newcomer(id)
            let bought = try await client.sync(
                SyncRequest(
                    appTransaction: appTransaction,
                    transactions: [try Calculator.minter().transaction("1", of: id)]))
            #expect(bought.entitlements["everything"]?.outcome == .granted)
            #expect(bought.entitlements["everything"]?.reasons.first?.code == "product")
            #expect(bought.purchases.map(\.transactionID) == ["1"])
            let refunded = try await client.sync(
                SyncRequest(
                    appTransaction: appTransaction,
                    transactions: [
                        try Calculator.minter(signed: Calculator.now).transaction(
                            "1", of: id, ["revocationDate": .instant(Calculator.now.addingTimeInterval(-3600))])
                    ]))
            #expect(refunded.entitlements["everything"]?.outcome == .denied)
            #expect(refunded.entitlements["everything"]?.reasons.contains { $0.code == "refunded" } == true)
        }
    }

    private func expiredSubscription(of id: String) throws -> String {
        try Calculator.minter().transaction(
            "20", of: id,
            [
                "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                "expiresDate": .instant(Calculator.now.addingTimeInterval(-60)),
            ])
    }

    @Test func `a subscription right ends with its period, or with its billing grace period`() async throws {
        try await withService { client in
            let id = "704000000000000002"
            let expired = try expiredSubscription(of: id)
            let request = SyncRequest(appTransaction: try Calculator.minter().newcomer(id), transactions: [expired])
            let ended = try await client.sync(request)
            #expect(ended.entitlements["everything"]?.outcome == .denied)
            var withGrace = request
            let grace = Calculator.now.addingTimeInterval(86_400)
            withGrace.renewalInfos = [
                try Calculator.minter().text(
                    .renewalInfo,
                    [
                        "originalTransactionId": .string("20"), "appTransactionId": .string(id),
                        "gracePeriodExpiresDate": .instant(grace), "isInBillingRetryPeriod": .boolean(true),
                    ])
            ]
            let saved = try await client.sync(withGrace)
            #expect(saved.problems.isEmpty)
            #expect(saved.entitlements["everything"]?.outcome == .granted)
            #expect(saved.entitlements["everything"]?.until == grace)
            #expect(saved.entitlements["everything"]?.reasons.first?.code == "gracePeriod")
        }
    }

    @Test func `a receipt alone proves an era in a sync`() async throws {
        try await withService { client in
            let answer = try await client.sync(SyncRequest(receipt: try Calculator.receipts().text()))
            #expect(answer.entitlements["everything"]?.outcome == .granted)
            #expect(answer.purchases.map(\.productID) == [Calculator.everything])
            #expect(answer.entitlementToken == nil)
        }
    }

    @Test func `transactions alone prove purchases in a sync, but no era`() async throws {
        try await withService { client in
            let answer = try await client.sync(SyncRequest(transactions: [try Calculator.minter().text(.transaction)]))
            #expect(answer.entitlements["everything"]?.reasons.first?.code == "product")
            #expect(answer.entitlements["everything"]?.reasons.contains { $0.code == "eraHonored" } == false)
        }
        try await withService { client in
            // No entitlement lists this product.
            let hat = try Calculator.minter().text(
                .transaction, ["productId": .string("com.example.calculator.hat")])
            let answer = try await client.sync(SyncRequest(transactions: [hat]))
            #expect(answer.purchases.count == 1)
            #expect(answer.entitlements["everything"]?.outcome == .undetermined)
        }
    }

    @Test func `sandbox artifacts are a separate customer with purchases, but no eras`() async throws {
        try await withService { client in
            let minter = Calculator.minter(.sandbox)
            let tester = try await client.sync(
                SyncRequest(appTransaction: try minter.text(.appTransaction), transactions: []))
            #expect(tester.environment == .sandbox)
            #expect(tester.entitlements["everything"]?.outcome == .denied)
            #expect(tester.entitlements["everything"]?.reasons.first?.code == "testEnvironment")
            let buyer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction), transactions: [try minter.text(.transaction)]))
            #expect(buyer.id == tester.id)
            #expect(buyer.entitlements["everything"]?.outcome == .granted)
            // The same IDs in production belong to another customer.
            let owner = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000001"), transactions: []))
            #expect(owner.id != buyer.id)
            #expect(owner.entitlements["everything"]?.outcome == .denied)
        }
    }

    @Test func `artifacts signed by Xcode count if the service has Xcode's certificate configured`() async throws {
        try await withService { client in
            let request = SyncRequest(
                appTransaction: try Calculator.minter(.xcode).text(.appTransaction), transactions: [],
                deviceVerificationID: Calculator.device.uuidString)
            let answer = try await client.sync(request)
            #expect(answer.environment == .xcode)
            let again = try await client.sync(request)
            #expect(again.id == answer.id)
        }
        try await withService({ $0.anchors[.xcode] = nil }) { client in
            let problem = try await client.refused(
                SyncRequest(appTransaction: try Calculator.minter(.xcode).text(.appTransaction)))
            #expect(problem.code == .nothingVerified)
        }
    }

    @Test func `a support grant and a revocation change the decision of the next sync`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let application = try service.application(logger: Calculator.logger) { _ in }
            try await application.test(.router) { http in
                let client = Client(http: http)
                let answer = try await client.sync(
                    SyncRequest(appTransaction: try Calculator.minter().newcomer(), transactions: []))
                let token = try #require(answer.accessToken?.value)
                _ = try await service.store.record(
                    SupportGrant(.grant, of: "everything", date: Calculator.now.addingTimeInterval(-1)), for: 1)
                #expect(try await client.customer(token).entitlements["everything"]?.outcome == .granted)
                _ = try await service.store.record(
                    SupportGrant(.revocation, of: "everything", date: Calculator.now), for: 1)
                #expect(try await client.customer(token).entitlements["everything"]?.outcome == .denied)
            }
            try? await service.store.close()
        }
    }

    @Test func `a grace period of the sandbox extends no subscription of production`() async throws {
        try await withService { client in
            let id = "704000000000000002"
            let expired = try expiredSubscription(of: id)
            let renewal = try Calculator.minter(.sandbox).text(
                .renewalInfo,
                [
                    "originalTransactionId": .string("20"), "appTransactionId": .string(id),
                    "gracePeriodExpiresDate": .instant(Calculator.now.addingTimeInterval(86_400)),
                    "isInBillingRetryPeriod": .boolean(true),
                ])
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(id), transactions: [expired],
                    renewalInfos: [renewal]))
            #expect(answer.problems.map(\.artifact) == ["renewalInfos[0]"])
            #expect(answer.problems.map(\.code) == ["wrongEnvironment"])
            #expect(answer.entitlements["everything"]?.outcome == .denied)
        }
    }
}
