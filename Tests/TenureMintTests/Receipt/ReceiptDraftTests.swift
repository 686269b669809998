import Foundation
import TenureAppStore
import TenureMint
import Testing

struct ReceiptDraftTests {
    @Test func `a receipt draft's attributes have verifyReceipt's names, and an empty string removes an attribute`()
        throws
    {
        var draft = ReceiptDraft()
        try draft.set("bundle_id", to: "com.example.calculator")
        try draft.set("adam_id", to: "828838134")
        try draft.set("original_purchase_date", to: "1409997600000")
        try draft.set("attribute_99", to: "AAEC")
        #expect(draft[2] == .text("com.example.calculator"))
        #expect(draft[1] == .number(828_838_134))
        #expect(draft[18] == .date(Date(timeIntervalSince1970: 1_409_997_600)))
        #expect(draft[99] == .octets([0, 1, 2]))
        try draft.set("bundle_id", to: "")
        #expect(draft[2] == nil)
    }

    @Test func `a name such as in_app.1.product_id sets a field of the second purchase in a receipt draft`() throws {
        var draft = ReceiptDraft()
        try draft.set("in_app.0.product_id", to: "a")
        try draft.set("in_app.1.product_id", to: "b")
        try draft.set("in_app.0.is_trial_period", to: "true")
        #expect(draft.purchases.map { $0[1702] } == [.text("a"), .text("b")])
        #expect(draft.purchases.first?[1713] == .flag(true))
    }

    @Test(arguments: [
        ("bundleID", "x"), ("download_id", "-1"), ("download_id", "many"), ("original_purchase_date", "yesterday"),
        ("opaque_value", "%"), ("in_app", "x"), ("in_app.x.product_id", "a"), ("in_app.2.product_id", "a"),
        ("in_app.0.bundle_id", "a"), ("in_app.0.is_trial_period", "maybe"), ("attribute_", "AA=="),
        ("attribute_1", "A"),
    ])
    func `an invalid attribute name or value in a receipt draft is an error`(_ name: String, _ text: String) {
        var draft = ReceiptDraft()
        let error = #expect(throws: MintingError.self) { try draft.set(name, to: text) }
        #expect(error?.description.contains("`") == true)
    }

    @Test func `a minted receipt begins like genuine receipts, and has every attribute of its draft`() throws {
        let minter = ReceiptMinter(
            authority: try TestAuthority(), signedAt: Date(timeIntervalSince1970: 1_795_176_000))
        let receipt = try minter.mint()
        #expect(ReceiptEncoding(recognizing: receipt) == .binary)
        #expect(receipt.prefix(2) == [0x30, 0x82])
        let attributes = try #require(UnverifiedReceipt.content(of: receipt))
        #expect(attributes.first == 0x31)
        // The draft's purchase is an attribute, too.
        let types = try UnverifiedReceipt(receipt).payload.fields.count
        #expect(types == minter.defaultReceipt.attributes.count + 1)
    }
}
