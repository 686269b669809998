import Foundation
import TenureAppStore
import TenureJSON
import TenureMint
import Testing

/// The fields that Apple documents for purchases through the Advanced Commerce API, with Apple's names.
@Suite struct `information of the Advanced Commerce API` {
    private static let instant = Date(timeIntervalSince1970: 1_700_000_000)

    private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test func `a transaction has the SKU, texts, price, offer and refunds of each item`() throws {
        let commerce = """
            {"descriptors":{"description":"Every tool","displayName":"Pro"},"estimatedTax":90,"period":"P1Y",\
            "requestReferenceId":"3a4b0d0e-0000-4000-8000-000000000007","taxCode":"S021","taxExclusivePrice":1900,\
            "taxRate":"0.2","items":[{"SKU":"com.example.pro","description":"Tools","displayName":"Pro tools",\
            "offer":{"period":"P1M","periodCount":2,"price":990,"reason":"WIN_BACK"},"price":1990,\
            "refunds":[{"refundAmount":980,"refundDate":1700000000000,"refundReason":"LEGAL","refundType":"CUSTOM"}],\
            "revocationDate":1700000000000},{"SKU":"com.example.cloud"}]}
            """
        let jws = try Minted.minter.mint(.transaction, setting: ["advancedCommerceInfo": try value(commerce)])
        let payload = try Minted.verifier().verifyTransaction(jws, now: nil).payload
        let info = try #require(payload.advancedCommerceInfo)
        #expect(info.descriptors?.description == "Every tool" && info.descriptors?.displayName == "Pro")
        #expect(info.estimatedTax == 90 && info.taxExclusivePrice == 1900 && info.taxRate == "0.2")
        #expect(info.period == "P1Y" && info.taxCode == "S021" && info.consistencyToken == nil)
        #expect(info.requestReferenceID == "3a4b0d0e-0000-4000-8000-000000000007")

        let items = try #require(info.items)
        #expect(items.map(\.sku) == ["com.example.pro", "com.example.cloud"])
        let item = items[0]
        #expect(item.description == "Tools" && item.displayName == "Pro tools" && item.price == 1990)
        #expect(item.revocationDate == Self.instant && item.priceIncreaseInfo == nil)
        let offer = try #require(item.offer)
        #expect(offer.period == "P1M" && offer.periodCount == 2 && offer.price == 990)
        #expect(offer.reason == .known(.winBack))
        let refund = try #require(item.refunds?.first)
        #expect(item.refunds?.count == 1)
        #expect(refund.refundAmount == 980 && refund.refundDate == Self.instant)
        #expect(refund.refundReason == .known(.legal) && refund.refundType == .known(.custom))
    }

    @Test func `renewal info has the coming price increase of each item`() throws {
        let commerce = """
            {"consistencyToken":"token","items":[{"SKU":"com.example.pro","price":1990,\
            "priceIncreaseInfo":{"dependentSKUs":["com.example.a","com.example.b"],"price":2990,"status":"PENDING"}}]}
            """
        let jws = try Minted.minter.mint(.renewalInfo, setting: ["advancedCommerceInfo": try value(commerce)])
        let payload = try Minted.verifier().verifyRenewalInfo(jws, now: nil).payload
        let info = try #require(payload.advancedCommerceInfo)
        #expect(info.consistencyToken == "token" && info.descriptors == nil)
        let item = try #require(info.items?.first)
        #expect(item.sku == "com.example.pro" && item.price == 1990)
        #expect(item.offer == nil && item.refunds == nil)
        let increase = try #require(item.priceIncreaseInfo)
        #expect(increase.dependentSKUs == ["com.example.a", "com.example.b"] && increase.price == 2990)
        #expect(increase.status == .known(.pending))
    }
}
