import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import Testing

struct ReceiptEvidenceTests {
    private func verified(_ changes: [(String, String)] = []) throws -> Verified<ReceiptPayload> {
        let receipt = try ReceiptTestBed.minter().mint { draft in
            for (name, text) in changes { try draft.set(name, to: text) }
        }
        return try ReceiptTestBed.verifier([.production, .sandbox]).verifyReceipt(receipt, now: ReceiptTestBed.instant)
    }

    @Test func `a receipt proves the app's original version, original purchase date and download ID`() throws {
        let proof = try verified([("preorder_date", "2014-08-01T00:00:00Z")]).proof
        #expect(proof.kind == .receipt)
        #expect(proof.id == .download("500000000000037"))
        #expect(proof.signedDate == ReceiptTestBed.instant)
        #expect(proof.originalAppVersion == "37")
        #expect(proof.originalPurchaseDate == Date(timeIntervalSince1970: 1_409_997_600))
        #expect(proof.preorderDate == Date(timeIntervalSince1970: 1_406_851_200))
        #expect(proof.revocationDate == nil)
        #expect(proof.expirationDate == nil)
    }

    @Test(arguments: ["1", "2", "3"])
    func `a receipt's platform code isn't read as the original platform`(_ code: String) throws {
        #expect(try verified([("platform_code", code)]).proof.originalPlatform == nil)
    }

    @Test func `a receipt's download ID keeps all its digits; 0 or an empty string isn't an ID`() throws {
        #expect(try verified([("download_id", "18446744073709551615")]).proof.id == .download("18446744073709551615"))
        #expect(try verified([("download_id", "0")]).proof.id == nil)
        #expect(try verified([("download_id", "")]).proof.id == nil)
    }

    @Test func `a receipt's original version and date are nil if they are absent or empty`() throws {
        let proof = try verified([("original_application_version", ""), ("original_purchase_date", "")]).proof
        #expect(proof.originalAppVersion == nil)
        #expect(proof.originalPurchaseDate == nil)
        let receipt = try ReceiptTestBed.minter().mint {
            $0.attributes.removeAll { $0.type == 18 }
            $0.attributes.append(.init(type: 18, value: .text("")))
        }
        #expect(try UnverifiedReceipt(receipt).payload.originalPurchaseDate == nil)
    }

    @Test func `only receipts for volume purchases expire, and a date in the year 4001 means never`() throws {
        let end = "2027-01-01T00:00:00Z"
        let date = Date(timeIntervalSince1970: 1_798_761_600)
        #expect(try verified([("expiration_date", end)]).proof.expirationDate == nil)
        for type in ["ProductionVPP", "ProductionVPPSandbox"] {
            #expect(try verified([("receipt_type", type), ("expiration_date", end)]).proof.expirationDate == date)
            for never in ["4001-01-01T00:00:00Z", "4000-12-31T14:00:00Z"] {
                #expect(try verified([("receipt_type", type), ("expiration_date", never)]).proof.expirationDate == nil)
            }
        }
    }

    @Test(arguments: [
        ("0", Purchase.ProductType.nonConsumable), ("1", .consumable), ("2", .nonRenewing), ("3", .autoRenewable),
        ("4", .unknown("4")),
    ])
    func `a receipt's product types are read, and unknown types are kept`(_ text: String, _ type: Purchase.ProductType)
        throws
    {
        #expect(try verified([("in_app.0.product_type", text)]).purchases.map(\.type) == [type])
    }

    @Test func `a receipt's cancellation date is a revocation date`() throws {
        let canceled = try verified([("in_app.0.cancellation_date", "2016-01-01T00:00:00Z")])
        #expect(canceled.purchases.map(\.revocationDate) == [Date(timeIntervalSince1970: 1_451_606_400)])
        #expect(try verified().purchases.map(\.revocationDate) == [nil])
    }

    @Test func `a purchase in a receipt has transaction IDs and dates`() throws {
        let purchase = try #require(
            try verified([
                ("in_app.0.original_transaction_id", "410000000000000"),
                ("in_app.0.expires_date", "2026-12-01T00:00:00Z"),
            ]).purchases.first)
        #expect(purchase.transactionID == "410000000000001")
        #expect(purchase.originalTransactionID == "410000000000000")
        #expect(purchase.purchaseDate == Date(timeIntervalSince1970: 1_435_744_800))
        #expect(purchase.expiresDate == Date(timeIntervalSince1970: 1_796_083_200))
        #expect(purchase.signedDate == ReceiptTestBed.instant)
        // Xcode's receipts don't have this field.
        #expect(
            try verified([("in_app.0.original_transaction_id", "")]).purchases.first?.originalTransactionID
                == "410000000000001")
    }
}
