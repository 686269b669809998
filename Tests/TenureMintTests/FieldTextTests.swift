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
}
