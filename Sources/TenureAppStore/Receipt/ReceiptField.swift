public import Foundation
public import TenureJSON

/// One decoded attribute of a receipt, for output such as the output of `tenure inspect`.
public struct ReceiptField: Sendable, Hashable {
    /// A decoded value of an attribute.
    public enum Value: Sendable, Hashable {
        /// An ASN.1 string, such as a version.
        case text(String)
        /// An ASN.1 integer, such as an ID.
        case number(UInt64)
        /// An ASN.1 integer, true if it is 1.
        case flag(Bool)
        /// An ASN.1 string with an RFC 3339 date.
        case date(Date)
        /// An opaque value, or an unknown attribute.
        case bytes([UInt8])
        /// An in-app purchase.
        case fields([ReceiptField])
        /// The receipt has the attribute with an empty value.
        case empty
        /// The attribute is known, and its value is malformed.
        case malformed([UInt8])
    }

    /// The number of the attribute.
    public let type: Int32
    /// The JSON key in `verifyReceipt`. If `verifyReceipt` has no key, a name of Tenure in the same style, or
    /// `attribute_N`.
    public let name: String
    /// The value, decoded as the attribute's type says.
    public let value: Value

    /// The members of this attribute in `verifyReceipt`'s JSON. A date has three members, and the app's Apple ID has
    /// two names. Members of in-app purchases are added by `verifyReceiptJSON`.
    fileprivate func members(inApp: Bool) -> [JSONObject.Member] {
        func member(_ name: String, _ value: JSONValue) -> JSONObject.Member {
            JSONObject.Member(name: name, value: value)
        }
        switch value {
        case .text(let text): return [member(name, .string(text))]
        // Leave out the ID 0, which purchases other than subscriptions have.
        case .number(0) where type == ReceiptAttribute.webOrderLineItemID.rawValue: return []
        case .number(let number):
            // In purchases, Apple writes numbers as strings.
            let json: JSONValue = inApp ? .string(String(number)) : .number(String(number))
            let isAppID = type == ReceiptAttribute.appAppleID.rawValue
            return (isAppID ? [member("adam_id", json)] : []) + [member(name, json)]
        case .flag(let flag): return [member(name, .string(flag ? "true" : "false"))]
        case .date(let date): return ReceiptDate.members(name, date)
        case .bytes(let bytes), .malformed(let bytes): return [member(name, .string(Base64.standard.text(bytes)))]
        case .empty:
            // `verifyReceipt` leaves out empty dates.
            let isDate = ReceiptAttribute(rawValue: type)?.encoding == .date
            return isDate ? [] : [member(name, .string(""))]
        case .fields: return []
        }
    }
}

extension ReceiptPayload {
    /// All attributes, including unknown attributes, by ascending number; the purchases come last.
    public var fields: [ReceiptField] {
        let reader = BERReader(bytes)
        let fields = attributes.map { field($0, inApp: false, reader) }
        return stablySorted(fields) { $0.type == ReceiptAttribute.inAppPurchase.rawValue ? .max : $0.type }
    }

    /// Decodes one attribute. `reader` has the bytes of its value.
    private func field(_ raw: RawReceiptAttribute, inApp: Bool, _ reader: BERReader) -> ReceiptField {
        let content = Array(bytes[raw.value])
        guard let attribute = ReceiptAttribute(rawValue: raw.type), attribute.isInApp == inApp
        else { return ReceiptField(type: raw.type, name: "attribute_\(raw.type)", value: .bytes(content)) }
        let value: ReceiptField.Value =
            switch ReceiptValue(reader, raw.value, as: attribute.encoding) {
            case .text(let text): .text(text)
            case .number(let number): .number(number)
            case .flag(let flag): .flag(flag)
            case .date(let date): .date(date)
            case .octets: attribute == .inAppPurchase ? .fields(purchaseFields(raw.value)) : .bytes(content)
            case .absent: .empty
            case .malformed: .malformed(content)
            }
        return ReceiptField(type: raw.type, name: attribute.name, value: value)
    }

    /// Decodes the attributes of the in-app purchase at `range`.
    private func purchaseFields(_ range: Range<Int>) -> [ReceiptField] {
        // The attributes were already read when the receipt was parsed, so this can't fail.
        var parser = ReceiptPayloadParser(reader: BERReader(bytes))
        guard let attributes = try? parser.attributes(in: range) else { return [] }
        let reader = parser.reader
        let fields = attributes.map { raw in
            // If a value is in chunks, the reader joins them and appends them to its bytes, but not to this payload's.
            ReceiptPayload(bytes: reader.bytes).field(raw, inApp: true, reader)
        }
        return stablySorted(fields) { $0.type }
    }

    /// The receipt in the format of `receipt` in a response of `verifyReceipt`. Attributes without a name in
    /// `verifyReceipt` have names of Tenure.
    public var verifyReceiptJSON: JSONObject {
        var members: [JSONObject.Member] = []
        var purchases: [JSONValue] = []
        for field in fields {
            if case .fields(let fields) = field.value {
                purchases.append(.object(JSONObject(members: fields.flatMap { $0.members(inApp: true) })))
            } else {
                members += field.members(inApp: false)
            }
        }
        members.append(JSONObject.Member(name: ReceiptAttribute.inAppPurchase.name, value: .array(purchases)))
        return JSONObject(members: members)
    }
}

/// Sorts by `key`. Fields with equal keys keep their order.
private func stablySorted(_ fields: [ReceiptField], by key: (ReceiptField) -> Int32) -> [ReceiptField] {
    fields.enumerated().sorted { (key($0.element), $0.offset) < (key($1.element), $1.offset) }.map(\.element)
}
