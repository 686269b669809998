import CalculatorSeller
import Crypto
import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import Testing

/// The values of StoreKit on Linux that an app reads, such as periods, offers and the parts of a JWS.
@Suite(.timeLimit(.minutes(2))) struct ValueTests {
    private func product(_ id: String) async throws -> Product {
        try #require(try await Product.products(for: [id]).first)
    }

    private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

    @Test func `a subscription period ends on the calendar day after its length`() {
        typealias Period = Product.SubscriptionPeriod
        let ends: [(period: Period, end: String)] = [
            (.everyThreeDays, "2024-02-03"), (.weekly, "2024-02-07"), (.everyTwoWeeks, "2024-02-14"),
            (.monthly, "2024-02-29"), (.everyTwoMonths, "2024-03-31"), (.everyThreeMonths, "2024-04-30"),
            (.everySixMonths, "2024-07-31"), (.yearly, "2025-01-31"),
        ]
        let start = Kiosk.date("2024-01-31")
        for (period, end) in ends {
            #expect(period.dateRange(referenceDate: start) == start..<Kiosk.date(end), "\(period)")
        }
        let style = Duration.UnitsFormatStyle(allowedUnits: [.days], width: .wide).locale(Locale(identifier: "en_US"))
        #expect(Period.monthly.formatted(style, referenceDate: start) == "29 days")
        #expect("\(String(reflecting: Period.everySixMonths))" == "6 month")
    }

    @Test func `every verification result has the parts of its JWS`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.device().run {
            func check(
                _ jws: String, _ header: Data, _ payload: Data, _ signature: Data, _ signed: Data, _ hash: Data,
                _ nonce: UUID, _ value: P256.Signing.ECDSASignature
            ) throws {
                let parts = jws.split(separator: ".").map(String.init)
                #expect(text(signed) == parts[0] + "." + parts[1])
                let read = try #require(try JSONSerialization.jsonObject(with: header) as? [String: Any])
                #expect(read["alg"] as? String == "ES256")
                let fields = try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
                #expect(fields["deviceVerificationNonce"] as? String == nonce.uuidString.lowercased())
                #expect(signature.count == 64 && value.rawRepresentation == signature)
                let device = try #require(AppStore.deviceVerificationID).uuidString.lowercased()
                #expect(hash == Data(SHA384.hash(data: Data((nonce.uuidString.lowercased() + device).utf8))))
            }
            let app = try await AppTransaction.shared
            try check(
                app.jwsRepresentation, app.headerData, app.payloadData, app.signatureData, app.signedData,
                app.deviceVerification, app.deviceVerificationNonce, app.signature)
            #expect(app.signedDate == app.unsafePayloadValue.signedDate)
            let bought = try #require(await StoreKit.Transaction.latest(for: Kiosk.pro))
            try check(
                bought.jwsRepresentation, bought.headerData, bought.payloadData, bought.signatureData,
                bought.signedData, bought.deviceVerification, bought.deviceVerificationNonce, bought.signature)
            #expect(text(bought.payloadData).contains(Kiosk.pro))
            let status = try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first)
            let renewal = status.renewalInfo
            try check(
                renewal.jwsRepresentation, renewal.headerData, renewal.payloadData, renewal.signatureData,
                renewal.signedData, renewal.deviceVerification, renewal.deviceVerificationNonce, renewal.signature)
            #expect(renewal.signedDate == renewal.unsafePayloadValue.signedDate)
            #expect(text(renewal.payloadData).contains("autoRenewStatus"))
            let again = try #require(await StoreKit.Transaction.latest(for: Kiosk.pro))
            #expect(Set([bought, again]).count == 1)
        }
    }

    @Test
    func
        `a transaction names its offer, environment and currency as strings, and renewal info its environment and currency`()
        async throws
    {
        let kiosk = try await Kiosk(.sandbox)
        try await kiosk.buy(Kiosk.monthly)
        try await kiosk.device().run {
            let bought = try #require(await StoreKit.Transaction.latest(for: Kiosk.monthly)).payloadValue
            #expect(bought.offerType == .introductory)
            #expect(bought.offerID == nil)
            #expect(bought.offerPaymentModeStringRepresentation == "FREE_TRIAL")
            #expect(bought.offerPeriodStringRepresentation == "P1W")
            #expect(bought.environmentStringRepresentation == "Sandbox")
            #expect(bought.reasonStringRepresentation == "PURCHASE")
            #expect(bought.storefrontCountryCode == "USA")
            #expect(bought.currencyCode == "USD")
            let status = try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first)
            let renewal = try status.renewalInfo.payloadValue
            #expect(renewal.environmentStringRepresentation == "Sandbox")
            #expect(renewal.currencyCode == "USD")
            #expect(text(renewal.jsonRepresentation).contains(Kiosk.monthly))
        }
    }

    @Test func `the status of a transaction is the status of its subscription, in every period`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.advance("40d")
        try await kiosk.device().run {
            let status = try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first)
            var periods: [UInt64] = []
            for await result in StoreKit.Transaction.all(for: Kiosk.pro) {
                #expect(result.unsafePayloadValue.productID == Kiosk.pro)
                periods.append(result.unsafePayloadValue.id)
            }
            #expect(periods.count == 2)
            for id in periods { #expect(try await Product.SubscriptionInfo.status(transactionID: id) == status) }
            let other = try #require(await StoreKit.Transaction.latest(for: Kiosk.everything)).payloadValue.id
            #expect(try await Product.SubscriptionInfo.status(transactionID: other) == nil)
            var groups: [String] = []
            for await (group, statuses) in Product.SubscriptionInfo.Status.all {
                groups.append(group)
                #expect(statuses == [status])
            }
            #expect(groups == [Kiosk.group])
            #expect(try await Product.SubscriptionInfo.status(for: "another").isEmpty)
            let plan = try #require(try await product(Kiosk.monthly).subscription)
            #expect(try await plan.status == [status])
        }
    }

    @Test func `a product lists its own transactions and entitlements`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.operation(.refund, "Ada", [.product: Kiosk.everything])
        try await kiosk.device().run {
            let pro = try await product(Kiosk.pro)
            let everything = try await product(Kiosk.everything)
            #expect(await pro.latestTransaction?.unsafePayloadValue.productID == Kiosk.pro)
            #expect(await everything.latestTransaction?.unsafePayloadValue.productID == Kiosk.everything)
            #expect(await everything.latestTransaction?.unsafePayloadValue.revocationDate != nil)
            for (product, entitled) in [(pro, [Kiosk.pro]), (everything, [])] {
                var found: [String] = []
                for await result in product.currentEntitlements { found.append(result.unsafePayloadValue.productID) }
                #expect(found == entitled)
            }
            #expect(await pro.currentEntitlement?.unsafePayloadValue.productID == Kiosk.pro)
            #expect(await everything.currentEntitlement == nil)
            #expect(pro != everything)
            let again = try await product(Kiosk.pro)
            #expect(Set([pro, again]).count == 1)
        }
    }

    @Test func `a former subscriber gets a promotional offer in each form of the option`() async throws {
        let signature = Product.SubscriptionOffer.Signature(
            keyID: "key", nonce: UUID(), timestamp: 1, signature: Data([1]))
        let forms: [Set<Product.PurchaseOption>] = [
            [
                .promotionalOffer(
                    offerID: "thanks", keyID: "key", nonce: UUID(), signature: Data([1]), timestamp: 1)
            ],
            [.promotionalOffer(offerID: "thanks", signature: signature)],
            Set(Product.PurchaseOption.promotionalOffer("thanks", compactJWS: "a.b.c")),
        ]
        for form in forms {
            let kiosk = try await Kiosk()
            try await kiosk.buy(Kiosk.monthly)
            try await kiosk.operation(.cancel, "Ada", [.product: Kiosk.monthly])
            try await kiosk.advance("40d")
            try await kiosk.device().run {
                let ignored: Set<Product.PurchaseOption> = [
                    .custom(key: "a", value: "x"), .custom(key: "b", value: 2.5), .custom(key: "c", value: true),
                    .custom(key: "d", value: Data([1])), .introductoryOfferEligibility(compactJWS: "a.b.c"),
                    .onStorefrontChange { _ in true },
                ]
                let result = try await product(Kiosk.monthly).purchase(options: form.union(ignored))
                guard case .success(.verified(let bought)) = result else { throw Unexpected() }
                #expect(bought.offerType == .promotional)
                #expect(bought.offerID == "thanks")
                #expect(bought.price == Decimal(string: "2.99"))
                let status = try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first)
                #expect(try status.transaction.payloadValue.id == bought.id)
            }
        }
    }
}
