import Foundation
import TenureAppStore
import TenureJSON
import TenureMint
import Testing

struct ReceiptFieldTests {
    @Test func `every documented attribute of a receipt is read`() throws {
        let receipt = try ReceiptTestBed.minter().mint { draft in
            for attribute in ReceiptAttribute.allCases where attribute != .inAppPurchase {
                try draft.set((attribute.isInApp ? "in_app.0." : "") + attribute.name, to: attribute.sampleText)
            }
        }
        let fields = try UnverifiedReceipt(receipt).payload.fields
        let purchase = try #require(fields.last)
        guard case .fields(let inApp) = purchase.value else {
            Issue.record("the purchases do not come last")
            return
        }
        let shown = Set((fields + inApp).map(\.type))
        #expect(shown == Set(ReceiptAttribute.allCases.map(\.rawValue)))
        for field in fields + inApp {
            if case .malformed = field.value { Issue.record("\(field.name) cannot be read") }
        }
    }

    @Test func `a receipt's JSON has verifyReceipt's names and types`() throws {
        let json = try UnverifiedReceipt(ReceiptTestBed.minter().mint()).payload.verifyReceiptJSON
        #expect(json["receipt_type"] == .string("Production"))
        #expect(json["adam_id"] == .number("828838134"))
        #expect(json["app_item_id"] == .number("828838134"))
        #expect(json["bundle_id"] == .string("com.example.calculator"))
        #expect(json["download_id"] == .number("500000000000037"))
        #expect(json["original_application_version"] == .string("37"))
        #expect(json["original_purchase_date"] == .string("2014-09-06 10:00:00 Etc/GMT"))
        #expect(json["original_purchase_date_ms"] == .string("1409997600000"))
        #expect(json["preorder_date"] == nil)
        guard case .array(let purchases)? = json["in_app"], case .object(let purchase)? = purchases.first else {
            Issue.record("there is no purchase")
            return
        }
        #expect(purchase["quantity"] == .string("1"))
        #expect(purchase["is_trial_period"] == .string("false"))
        #expect(purchase["purchase_date_ms"] == .string("1435744800000"))
        #expect(purchase["web_order_line_item_id"] == nil)
        #expect(purchase["cancellation_date"] == nil)
    }

    @Test func `an unverified receipt shows the signer's certificate first, in any order of its certificates`() throws {
        let minter = try ReceiptTestBed.minter()
        let names = ["App Store Receipt Signing", "Developer Relations CA", "Root CA"]
        for (receipt, order) in [(try minter.mint(), [0, 1, 2]), (try minter.mint(with: .rootFirst), [0, 2, 1])] {
            let subjects = try UnverifiedReceipt(receipt).certificates.map(\.subject)
            #expect(subjects.count == 3)
            for (subject, index) in zip(subjects, order) { #expect(subject.contains(names[index]), "\(subjects)") }
        }
    }

    @Test func `the signed content of a receipt is found without verifying it, and not in a damaged receipt`() throws {
        let minter = try ReceiptTestBed.minter()
        let receipt = try minter.mint()
        let content = try #require(UnverifiedReceipt.content(of: receipt))
        #expect(try ReceiptPayload(unverifiedContent: content).bundleID == "com.example.calculator")
        // The chunks of the content are joined.
        #expect(try UnverifiedReceipt.content(of: minter.mint(with: .chunkedContent)) == content)
        #expect(UnverifiedReceipt.content(of: Array(receipt.dropLast())) == nil)
    }

    @Test func `a receipt's unknown attributes are shown unchanged`() throws {
        let fields = try UnverifiedReceipt(ReceiptTestBed.minter().mint(with: .unknownAttributes)).payload.fields
        #expect(fields.first { $0.type == 99 }?.name == "attribute_99")
        #expect(fields.first { $0.type == 99 }?.value == .bytes([1, 2, 3]))
    }

    @Test func `an unreadable date in an undocumented attribute of a receipt is shown as malformed`() throws {
        let receipt = try ReceiptTestBed.minter().mint(with: .unreadableUndocumentedDate)
        let field = try #require(UnverifiedReceipt(receipt).payload.fields.first { $0.name == "download_date" })
        guard case .malformed = field.value else {
            Issue.record("\(field.value)")
            return
        }
    }

    @Test func `a number or a date of another ASN.1 type, and a negative number, are malformed in a receipt`() throws {
        let minter = try ReceiptTestBed.minter()
        func value(of attribute: ReceiptAttribute, _ octets: [UInt8]) throws -> ReceiptField.Value? {
            var draft = minter.defaultReceipt
            draft[attribute] = .octets(octets)
            let fields = try UnverifiedReceipt(minter.mint(draft)).payload.fields
            return fields.first { $0.type == attribute.rawValue }?.value
        }
        func isMalformed(_ value: ReceiptField.Value?) -> Bool { if case .malformed = value { true } else { false } }
        #expect(try value(of: .versionExternalIdentifier, [0x02, 0x01, 0x7F]) == .number(127))
        #expect(try value(of: .versionExternalIdentifier, [0x02, 0x02, 0x00, 0x80]) == .number(128))
        for octets: [UInt8] in [[0x02, 0x01, 0x80], [0x02, 0x01, 0xFF], [0x04, 0x01, 0x7F], [0x02, 0x00]] {
            #expect(isMalformed(try value(of: .versionExternalIdentifier, octets)), "\(octets)")
        }
        let date = Array("2014-08-01T00:00:00Z".utf8)
        let count = UInt8(date.count)
        #expect(
            try value(of: .downloadDate, [0x16, count] + date) == .date(Date(timeIntervalSince1970: 1_406_851_200)))
        #expect(isMalformed(try value(of: .downloadDate, [0x04, count] + date)))
    }

    @Test(arguments: ["1\0", "ü\0"])
    func `a receipt's string with a NUL character is malformed, because PostgreSQL can't store it`(text: String) throws
    {
        let minter = try ReceiptTestBed.minter()
        var draft = minter.defaultReceipt
        draft[.originalAppVersion] = .text(text)
        #expect(try ReceiptTestBed.rejection(of: minter.mint(draft))?.code == .malformed)
    }

    @Test func `a receipt attribute that is encoded in chunks is put together`() throws {
        let fields = try UnverifiedReceipt(ReceiptTestBed.minter().mint(with: .nestedChunks)).payload.fields
        #expect(fields.first { $0.type == 97 }?.value == .bytes([0x0C, 0x02, 0x68, 0x69]))
    }

    @Test func `a receipt can be minted again from its JSON`() throws {
        let minter = try ReceiptTestBed.minter()
        let receipt = try minter.mint()
        let json = try UnverifiedReceipt(receipt).payload.verifyReceiptJSON
        var draft = ReceiptDraft()
        try draft.set(json)
        let again = try UnverifiedReceipt(minter.mint(draft)).payload.verifyReceiptJSON
        #expect(again == JSONObject(members: json.members.filter { $0.value != .string("") }).withoutEmptyInPurchases)
    }
}

extension JSONObject {
    /// An empty string removes an attribute. Numbers that `verifyReceipt` doesn't return can't be restored.
    fileprivate var withoutEmptyInPurchases: JSONObject {
        guard case .array(let purchases)? = self["in_app"] else { return self }
        var result = self
        result["in_app"] = .array(
            purchases.map { purchase in
                guard case .object(let object) = purchase else { return purchase }
                return .object(JSONObject(members: object.members.filter { $0.value != .string("") }))
            })
        return result
    }
}

extension ReceiptAttribute {
    fileprivate var sampleText: String {
        switch encoding {
        case .raw, .attributes: "AAECAw=="
        case .date: "2020-07-22T17:39:08Z"
        case .integer, .boolean: "1"
        case .utf8String, .ia5String: self == .receiptType ? "Production" : "sample"
        }
    }
}
