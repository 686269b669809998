import Foundation
import TenureAppStore
import TenureJSON
import TenureMint
import Testing

@Suite struct FieldTextTests {
    @Test func `fields of a minted JWS have Apple's names, and are set from text`() throws {
        let kind = JWSKind.transaction
        var payload = JSONObject()
        for (name, text) in [
            ("productId", "com.example.calculator.pro"), ("quantity", "3"), ("isUpgraded", "true"),
            ("purchaseDate", "2015-07-01T10:00:00Z"), ("expiresDate", "1697679936049.7297"),
            ("commitmentInfo.commitmentPrice", "990"), ("advancedCommerceInfo.items", #"[{"SKU":"a","price":1}]"#),
        ] { payload = try kind.setting(name, to: text, in: payload) }
        let expected =
            #"{"productId":"com.example.calculator.pro","quantity":3,"isUpgraded":true,"#
            + #""purchaseDate":1435744800000,"expiresDate":1697679936049.7297,"commitmentInfo":{"commitmentPrice":990},"#
            + #""advancedCommerceInfo":{"items":[{"SKU":"a","price":1}]}}"#
        #expect(String(decoding: JSONValue.object(payload).bytes, as: UTF8.self) == expected)
        #expect(try kind.setting("quantity", to: "", in: payload)["quantity"] == nil)
    }

    @Test func `setting or removing an inner field keeps the other fields of its object`() throws {
        let kind = JWSKind.notification
        var payload = JSONObject()
        for (name, text) in [
            ("notificationUUID", "u"), ("data.bundleId", "com.example.notes"), ("data.status", "1"),
            ("data.bundleVersion", "310"), ("data.status", "3"), ("data.bundleVersion", ""),
        ] { payload = try kind.setting(name, to: text, in: payload) }
        let data = try #require(payload["data"])
        #expect(payload["notificationUUID"] == .string("u"))
        #expect(String(decoding: data.bytes, as: UTF8.self) == #"{"bundleId":"com.example.notes","status":3}"#)
    }

    @Test(arguments: [
        ("color", "red", "there is no field `color`"), ("quantity", "many", "`quantity` must be an integer"),
        ("purchaseDate", "yesterday", "`purchaseDate` must be a date"),
        ("isUpgraded", "yes", "`isUpgraded` must be true or false"),
        ("commitmentInfo", "{", "`commitmentInfo` must be JSON"),
        ("productId.x", "y", "`productId` has no inner fields"),
    ])
    func `an error about an invalid field of a minted transaction contains the field's name`(
        name: String, text: String, message: String
    ) {
        #expect { try JWSKind.transaction.setting(name, to: text, in: JSONObject()) } throws: {
            "\($0)".hasPrefix(message)
        }
    }

    @Test func `an invalid field of a minted transaction says what to write`() {
        let cases: [(String, String, String)] = [
            ("quantity", "1.5", "`quantity` must be an integer; found `1.5`"),
            (
                "purchaseDate", "May",
                "`purchaseDate` must be a date such as 2026-11-20, 2026-11-20T12:00:00Z or milliseconds since 1970; found `May`"
            ),
            ("isUpgraded", "1", "`isUpgraded` must be true or false; found `1`"),
            ("productId.x", "y", "`productId` has no inner fields; set `productId` itself"),
        ]
        for (name, text, message) in cases {
            #expect(throws: MintingError(message)) {
                try JWSKind.transaction.setting(name, to: text, in: JSONObject())
            }
        }
        for name in ["color", "color.x", "ProductId", ""] {
            let error = #expect(throws: MintingError.self) {
                try JWSKind.transaction.setting(name, to: "x", in: JSONObject())
            }
            let message = error?.description ?? ""
            #expect(message.hasPrefix("there is no field `\(name)`; write one of "), "\(message)")
            #expect(message.contains(" productId, ") && !message.contains("notificationUUID"), "\(message)")
        }
    }

    @Test func `a date is in whole milliseconds, and a field that is nil is left as it is`() {
        for (seconds, text) in [(0.0006, "1"), (0.0004, "0"), (-0.0006, "-1"), (1_435_744_800, "1435744800000")] {
            #expect(JSONValue.instant(Date(timeIntervalSince1970: seconds)) == .number(text))
        }
        var object: JSONObject = ["a": .integer(1), "b": .null]
        object.add(["b": nil, "c": .boolean(true), "a": .integer(2)])
        #expect(String(decoding: JSONValue.object(object).bytes, as: UTF8.self) == #"{"a":2,"b":null,"c":true}"#)
    }

    @Test func `a defect is possible only in the kinds of artifacts that have the field`() {
        func defects(_ isIncluded: (JWSDefect) -> Bool) -> [JWSDefect] { JWSDefect.allCases.filter(isIncluded) }
        let nested: [JWSDefect] = [
            .nestedOtherApp, .nestedOtherEnvironment, .nestedOtherSubscription, .nestedUnsigned, .dataAndSummary,
        ]
        #expect(defects { $0.kinds == [.notification] } == nested)
        let bundle: [JWSDefect] = [.wrongBundle, .wrongBundleCase, .decomposedBundle, .noBundle]
        let appleID: [JWSDefect] = [.wrongAppAppleID, .noAppAppleID]
        #expect(defects { !$0.kinds.contains(.renewalInfo) } == bundle + appleID + nested)
        #expect(defects { !$0.kinds.contains(.transaction) } == appleID + nested)
        #expect(defects { !$0.kinds.contains(.notification) } == [.unknownEnum])
    }
}
