import Foundation
import TenureAppStore
import TenureJSON
import Testing

@testable import TenureMint

/// The bytes of each kind of attribute in a minted receipt, and the errors about `--set`.
@Suite struct `The attributes of a minted receipt` {
    private static let date = Date(timeIntervalSince1970: 1_409_997_600)

    private func encoded(_ type: UInt64, _ value: ReceiptDraft.Value) -> [UInt8] {
        var draft = ReceiptDraft()
        draft[type] = value
        return draft.encodedAttributes(sorted: false).flatMap { $0 }
    }

    @Test func `each kind of value has its own encoding, and only the opaque value has version 2`() {
        func attribute(_ start: [UInt8], _ value: [UInt8], version: UInt8 = 1) -> [UInt8] {
            start + [2, 1, version, 4] + value
        }
        let instant: [UInt8] = [22, 0x16, 20] + Array("2014-09-06T10:00:00Z".utf8)
        // UTF-8, ASCII, an unknown number, a date, a text in place of a date, a number, and a flag.
        #expect(encoded(2, .text("a")) == attribute([0x30, 11, 2, 1, 2], [3, 0x0C, 1, 0x61]))
        #expect(encoded(10, .text("4+")) == attribute([0x30, 12, 2, 1, 10], [4, 0x16, 2, 0x34, 0x2B]))
        #expect(encoded(99, .text("a")) == attribute([0x30, 11, 2, 1, 99], [3, 0x16, 1, 0x61]))
        #expect(encoded(18, .date(Self.date)) == attribute([0x30, 30, 2, 1, 18], instant))
        #expect(encoded(8, .text("")) == attribute([0x30, 10, 2, 1, 8], [2, 0x16, 0]))
        #expect(encoded(1, .number(128)) == attribute([0x30, 12, 2, 1, 1], [4, 2, 2, 0, 0x80]))
        #expect(encoded(1713, .flag(true)) == attribute([0x30, 12, 2, 2, 6, 0xB1], [3, 2, 1, 1]))
        #expect(encoded(1719, .flag(false)) == attribute([0x30, 12, 2, 2, 6, 0xB7], [3, 2, 1, 0]))
        #expect(encoded(6, .octets([7])) == attribute([0x30, 9, 2, 1, 6], [1, 7]))
        #expect(encoded(4, .octets([7])) == attribute([0x30, 9, 2, 1, 4], [1, 7], version: 2))
    }

    @Test func `DER sorts attributes by their bytes, also in a purchase, and BER keeps their order`() {
        var purchase = ReceiptDraft()
        purchase[1703] = .text("7")
        purchase[1701] = .number(1)
        var draft = ReceiptDraft()
        draft.purchases = [purchase]
        draft[4] = .octets([7])
        let (id, quantity) = (encoded(1703, .text("7")), encoded(1701, .number(1)))
        let opaque = encoded(4, .octets([7]))
        func set(_ elements: [[UInt8]]) -> [UInt8] { [0x31, UInt8(elements.joined().count)] + elements.joined() }
        func inApp(_ elements: [[UInt8]]) -> [UInt8] { encoded(17, .octets(set(elements))) }
        #expect(draft.encoded(sorted: false) == set([inApp([id, quantity]), opaque]))
        #expect(draft.encoded(sorted: true) == set([opaque, inApp([quantity, id])]))
    }

    @Test func `a receipt has the hash of its device, unless it has a hash, or lacks the bundle ID or the device`() {
        var draft = ReceiptDraft()
        draft.deviceIdentifier = [1, 2]
        draft[4] = .octets([7])
        #expect(draft.encodedAttributes(sorted: false).count == 1)
        draft[2] = .text("a")
        // The SHA-1 of the device, the opaque value and the encoded bundle ID: 01 02 07 0C 01 61.
        let hash: [UInt8] = [
            0x43, 0xE4, 0x6E, 0x59, 0x08, 0x37, 0x65, 0x64, 0xAC, 0x43, 0x93, 0x54, 0x92, 0xBA, 0xAC, 0x8E, 0x6B, 0x6F,
            0x1A, 0x7B,
        ]
        let attributes = draft.encodedAttributes(sorted: false)
        #expect(attributes.count == 3 && attributes.last == encoded(5, .octets(hash)))
        draft[5] = .octets([9])
        #expect(draft.encodedAttributes(sorted: false).last == encoded(5, .octets([9])))
        draft[5] = nil
        draft.deviceIdentifier = nil
        #expect(draft.encodedAttributes(sorted: false).count == 2)
    }

    @Test func `an attribute is replaced in its place, removed alone, and purchases are replaced together`() {
        var draft = ReceiptDraft()
        let texts: [(UInt64, String)] = [(2, "a"), (98, "b"), (98, "c"), (3, "d")]
        draft.attributes = texts.map { ReceiptDraft.Attribute(type: $0.0, value: .text($0.1)) }
        draft[98] = .text("e")
        #expect(draft.attributes.map(\.value) == [.text("a"), .text("e"), .text("c"), .text("d")])
        draft[98] = nil
        draft[97] = nil
        #expect(draft.attributes.map(\.type) == [2, 98, 3] && draft[98] == .text("c"))
        draft.add([.appVersion: .text("f"), .bundleID: nil, .ageRating: .text("g")])
        #expect(draft.attributes.map(\.type) == [2, 98, 3, 10] && draft[2] == .text("a") && draft[3] == .text("f"))
        let purchases = ["x", "y"].map { id -> ReceiptDraft in
            var purchase = ReceiptDraft()
            purchase[1702] = .text(id)
            return purchase
        }
        draft.purchases = purchases
        draft.purchases = purchases.reversed()
        #expect(draft.attributes.map(\.type) == [2, 98, 3, 10, 17, 17])
        #expect(draft.purchases.map { $0[1702] } == [.text("y"), .text("x")])
    }

    @Test func `an invalid attribute of a receipt says what to write, and changes nothing`() throws {
        var draft = ReceiptDraft()
        try draft.set("in_app.0.product_id", to: "a")
        let before = draft
        let shape =
            "isn't a purchase's attribute; write the number of the purchase and the attribute, such as `in_app.0.product_id`"
        let cases: [(String, String, String)] = [
            ("in_app", "x", "`in_app` \(shape)"), ("in_app.0", "x", "`in_app.0` \(shape)"),
            ("in_app.x.product_id", "x", "`in_app.x.product_id` \(shape)"),
            ("in_app.-1.product_id", "x", "`in_app.-1.product_id` \(shape)"),
            ("in_app.0.product_id.x", "x", "`in_app.0.product_id.x` \(shape)"),
            (
                "in_app.2.quantity", "1",
                "`in_app.2.quantity` leaves out a purchase; the next purchase has the number 1: write `in_app.1.quantity`"
            ),
            ("in_app.1.is_trial_period", "maybe", "`is_trial_period` must be true or false; found `maybe`"),
            ("download_id", "-1", "`download_id` must be a whole number that isn't negative; found `-1`"),
            ("download_id", "1.5", "`download_id` must be a whole number that isn't negative; found `1.5`"),
            (
                "original_purchase_date", "May",
                "`original_purchase_date` must be a date such as 2026-11-20T12:00:00Z or milliseconds since 1970; found `May`"
            ),
            ("opaque_value", "%", "`opaque_value` must be Base64; found `%`"),
            ("attribute_77", "A", "`attribute_77` must be Base64; found `A`"),
        ]
        for (name, text, message) in cases {
            #expect(throws: MintingError(message)) { try draft.set(name, to: text) }
            #expect(draft == before, "\(name)")
        }
        for (name, start, other) in [
            ("product_id", "receipt_type, app_item_id, ", "quantity"),
            ("in_app.0.bundle_id", "quantity, product_id, ", "receipt_type"),
            ("attribute_x", "receipt_type, ", "quantity"),
        ] {
            let error = #expect(throws: MintingError.self) { try draft.set(name, to: "x") }
            let message = error?.description ?? ""
            let wrong = name.split(separator: ".").last ?? ""
            #expect(message.hasPrefix("there is no attribute `\(wrong)`; write one of \(start)"), "\(message)")
            #expect(
                message.hasSuffix(", or `attribute_N` with a number") && !message.contains(" \(other),"), "\(message)")
        }
    }

    @Test func `flags, dates, unknown numbers and fields of verifyReceipt are set in every form`() throws {
        var draft = ReceiptDraft()
        for (index, (text, flag)) in [("true", true), ("1", true), ("false", false), ("0", false)].enumerated() {
            try draft.set("in_app.\(index).is_trial_period", to: text)
            #expect(draft.purchases.last?[1713] == .flag(flag))
        }
        try draft.set("in_app.0.attribute_1799", to: "AQ==")
        #expect(draft.purchases.count == 4 && draft.purchases[0][1799] == .octets([1]) && draft[1799] == nil)
        for text in ["2014-09-06T10:00:00Z", "1409997600000", "2014-09-06 10:00:00 Etc/GMT"] {
            try draft.set("original_purchase_date", to: text)
            #expect(draft[18] == .date(Self.date), "\(text)")
        }
        try draft.set("preorder_date", to: "2014-09-06")
        #expect(draft[32] == .date(Date(timeIntervalSince1970: 1_409_961_600)))
        try draft.set("attribute_99", to: "AQ==")
        try draft.set("attribute_99", to: "")
        #expect(draft[99] == nil)
        // A date's other forms count only beside the date itself.
        for name in ["expiration_date_ms", "expiration_date_pst"] {
            let error = #expect(throws: MintingError.self) { try draft.set([name: .string("1")] as JSONObject) }
            #expect(error?.description.hasPrefix("there is no attribute `\(name)`; ") == true)
        }
        #expect(throws: MintingError("`in_app` must be a single value")) {
            try draft.set(["in_app": .array([.object(["in_app": .array([])])])] as JSONObject)
        }
        #expect(draft.purchases.count == 4)
    }
}
