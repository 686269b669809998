import Foundation
import TenureAppStore
import TenureCore
package import TenureJSON

extension ReceiptDraft {
    /// Sets one attribute from text, as in `tenure mint --set field=value`.
    ///
    /// The names are the names in `verifyReceipt`, or `attribute_N` for an attribute without a name. An attribute of a
    /// purchase has a name such as `in_app.0.product_id`. Purchases are numbered from 0, and the next free number adds
    /// a purchase. Dates are in RFC 3339 or in milliseconds since 1970. Opaque values are in Base64. An empty string
    /// removes the attribute.
    ///
    /// Throws `MintingError` if there is no such attribute, or if the text has the wrong format.
    package mutating func set(_ name: String, to text: String) throws(MintingError) {
        let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if path.first == ReceiptAttribute.inAppPurchase.name {
            guard path.count == 3, let index = Int(path[1]), index >= 0 else {
                throw MintingError(
                    "`\(name)` isn't a purchase's attribute; write the number of the purchase and the attribute, such as `in_app.0.product_id`"
                )
            }
            var all = purchases
            guard index <= all.count else {
                throw MintingError(
                    "`\(name)` leaves out a purchase; the next purchase has the number \(all.count): write `in_app.\(all.count).\(path[2])`"
                )
            }
            if index == all.count { all.append(ReceiptDraft()) }
            try all[index].set(path[2], to: text, inApp: true)
            purchases = all
        } else {
            try set(name, to: text, inApp: false)
        }
    }

    /// Sets attributes from JSON with `verifyReceipt`'s names, as `tenure inspect --json` prints them. Null removes an
    /// attribute.
    ///
    /// - Parameter inApp: whether the attributes belong to an in-app purchase, and not to the app.
    package mutating func set(_ json: JSONObject, inApp: Bool = false) throws(MintingError) {
        for member in json.members {
            // verifyReceipt writes each date as three members: `NAME`, `NAME_ms` and `NAME_pst`. Use only `NAME`.
            if member.name.hasSuffix("_ms") || member.name.hasSuffix("_pst"), json[member.name.dateName] != nil {
                continue
            }
            switch member.value {
            case .array(let elements) where member.name == ReceiptAttribute.inAppPurchase.name && !inApp:
                var all: [ReceiptDraft] = []
                for element in elements {
                    guard case .object(let object) = element else {
                        throw MintingError("`in_app` must be a list of objects")
                    }
                    var purchase = ReceiptDraft()
                    try purchase.set(object, inApp: true)
                    all.append(purchase)
                }
                purchases = all
            case .string(let text), .number(let text): try set(member.name, to: text, inApp: inApp)
            case .boolean(let flag): try set(member.name, to: flag ? "true" : "false", inApp: inApp)
            case .null: try set(member.name, to: "", inApp: inApp)
            case .array, .object: throw MintingError("`\(member.name)` must be a single value")
            }
        }
    }

    /// Sets one attribute of the app or of a purchase. An empty string removes the attribute.
    private mutating func set(_ name: String, to text: String, inApp: Bool) throws(MintingError) {
        if let attribute = ReceiptAttribute(named: name, inApp: inApp), attribute != .inAppPurchase {
            self[attribute] = text.isEmpty ? nil : try attribute.value(from: text)
        } else if name.hasPrefix("attribute_"), let type = UInt64(name.dropFirst("attribute_".count)) {
            guard let bytes = Base64.standard.decode(Array(text.utf8)[...]) else {
                throw MintingError("`\(name)` must be Base64; found `\(text)`")
            }
            self[type] = text.isEmpty ? nil : .octets(bytes)
        } else {
            let names = ReceiptAttribute.allCases.filter { $0.isInApp == inApp }.map(\.name)
            throw MintingError(
                "there is no attribute `\(name)`; write one of \(names.joined(separator: ", ")), or `attribute_N` with a number"
            )
        }
    }
}

extension String {
    /// The name of a date without its suffix: `purchase_date` for `purchase_date_ms` and `purchase_date_pst`.
    fileprivate var dateName: String { hasSuffix("_ms") ? String(dropLast(3)) : String(dropLast(4)) }
}

extension ReceiptAttribute {
    /// Converts text to a value with the attribute's encoding.
    fileprivate func value(from text: String) throws(MintingError) -> ReceiptDraft.Value {
        switch encoding {
        case .utf8String, .ia5String: return .text(text)
        case .date:
            guard let date = Date(written: text) ?? ReceiptDate.date(fromAnyText: text) else {
                throw MintingError(
                    "`\(name)` must be a date such as 2026-11-20T12:00:00Z or milliseconds since 1970; found `\(text)`")
            }
            return .date(date)
        case .integer:
            guard let number = UInt64(text) else {
                throw MintingError("`\(name)` must be a whole number that isn't negative; found `\(text)`")
            }
            return .number(number)
        case .boolean:
            switch text {
            case "true", "1": return .flag(true)
            case "false", "0": return .flag(false)
            default: throw MintingError("`\(name)` must be true or false; found `\(text)`")
            }
        case .raw, .attributes:
            guard let bytes = Base64.standard.decode(Array(text.utf8)[...]) else {
                throw MintingError("`\(name)` must be Base64; found `\(text)`")
            }
            return .octets(bytes)
        }
    }
}
