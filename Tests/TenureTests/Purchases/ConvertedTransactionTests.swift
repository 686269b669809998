import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import StoreKit
@testable import Tenure

/// What the client reads from a transaction that StoreKit verified.
@Suite struct `Transactions from StoreKit` {
    private static let signed = InventedApp.now.addingTimeInterval(-60)

    private func converted(
        _ fields: [String: JSONValue], in environment: AppStoreEnvironment = .production
    ) throws -> (jws: String, transaction: AppStoreTransaction) {
        let minter = JWSMinter(
            authority: RealService.authority,
            app: MintedApp(environment: environment, deviceVerificationID: InventedApp.device), signedAt: Self.signed)
        let jws = String(decoding: try minter.mint(.transaction, setting: fields), as: UTF8.self)
        let read = StoreKit.SignedText(jws).flatMap { StoreKit.Transaction($0) }
        let verified = VerificationResult<StoreKit.Transaction>.verified(try #require(read))
        return (jws, try #require(StoreKitAccess.result(verified).value))
    }

    @Test func `every field that decides about an entitlement is read from a transaction`() throws {
        let bought = InventedApp.now.addingTimeInterval(-40 * InventedApp.day)
        let (expires, revoked) = (bought.addingTimeInterval(3000), bought.addingTimeInterval(2000))
        let (jws, transaction) = try converted(
            [
                "transactionId": .string("412"), "originalTransactionId": .string("411"),
                "productId": .string(InventedApp.yearly), "type": .string("Auto-Renewable Subscription"),
                "subscriptionGroupIdentifier": .string("20828838"), "purchaseDate": .instant(bought),
                "originalPurchaseDate": .instant(bought.addingTimeInterval(-1000)), "expiresDate": .instant(expires),
                "revocationDate": .instant(revoked), "revocationReason": .number("0"), "isUpgraded": .boolean(true),
                "inAppOwnershipType": .string("FAMILY_SHARED"), "signedDate": .instant(Self.signed),
                "appTransactionId": .string("704000000000000002"),
            ], in: .sandbox)
        let purchase = Purchase(
            transactionID: "412", originalTransactionID: "411", productID: InventedApp.yearly, type: .autoRenewable,
            purchaseDate: bought, expiresDate: expires, revocationDate: revoked, isUpgraded: true,
            isFamilyShared: true, signedDate: Self.signed)
        let expected = AppStoreTransaction(
            jws: jws, environment: .sandbox, appTransactionID: "704000000000000002", subscriptionGroupID: "20828838",
            purchase: purchase)
        #expect(transaction == expected)
    }

    @Test(
        arguments: [
            ("Non-Consumable", .nonConsumable), ("Consumable", .consumable),
            ("Non-Renewing Subscription", .nonRenewing), ("Auto-Renewable Subscription", .autoRenewable),
            ("Rental", .unknown("Rental")),
        ] as [(String, Purchase.ProductType)])
    func `a transaction has the type of its product, even a type that Apple adds later`(
        text: String, type: Purchase.ProductType
    ) throws {
        #expect(try converted(["type": .string(text)]).transaction.purchase.type == type)
    }

    @Test func `a transaction of the customer without an app transaction ID belongs to no account`() throws {
        let transaction = try converted(["appTransactionId": .string("")]).transaction
        #expect(transaction.appTransactionID == nil && transaction.subscriptionGroupID == nil)
        #expect(!transaction.purchase.isUpgraded && !transaction.purchase.isFamilyShared)
        #expect(transaction.purchase.revocationDate == nil && transaction.purchase.expiresDate == nil)
    }
}
