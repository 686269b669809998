import Foundation

/// Reads `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`. Both the content of an app receipt
/// and the value of attribute 17 have this format.
struct ReceiptPayloadParser {
    private(set) var reader: BERReader

    /// Parses the content at `range` of the reader's bytes.
    static func parse(_ range: Range<Int>, of reader: BERReader) throws(Rejection) -> ReceiptPayload {
        var parser = ReceiptPayloadParser(reader: reader)
        return try parser.payload(range)
    }

    // MARK: The app

    /// Reads all attributes of the app, and the in-app purchases among them.
    private mutating func payload(_ range: Range<Int>) throws(Rejection) -> ReceiptPayload {
        let set = try reader.element(
            BERTag.set, at: range.lowerBound, before: range.upperBound, "the set of attributes")
        guard set.end == range.upperBound else { throw .unreadable("bytes follow the attributes") }
        var payload = ReceiptPayload()
        var alreadyRead: UInt64 = 0
        var position = set.contents.lowerBound
        while position < set.contents.upperBound {
            let raw = try attribute(at: &position, before: set.contents.upperBound)
            payload.attributes.append(raw)
            guard let attribute = ReceiptAttribute(rawValue: raw.type), !attribute.isInApp else { continue }
            guard try isToBeRead(attribute, alreadyRead: &alreadyRead) else { continue }
            if attribute == .inAppPurchase {
                payload.inAppPurchases.append(try inAppPurchase(raw.value))
            } else {
                payload.set(attribute, to: try value(raw.value, of: attribute), at: raw.value)
            }
        }
        guard !payload.receiptType.isEmpty else { throw missing(.receiptType) }
        guard !payload.bundleID.isEmpty else { throw missing(.bundleID) }
        payload.bytes = reader.bytes
        return payload
    }

    // MARK: In-app purchases

    /// Reads the value of attribute 17: the attributes of one purchase.
    private mutating func inAppPurchase(_ range: Range<Int>) throws(Rejection) -> InAppPurchase {
        var purchase = InAppPurchase(productID: "", transactionID: "")
        var alreadyRead: UInt64 = 0
        let set = try reader.element(BERTag.set, at: range.lowerBound, before: range.upperBound, "an in-app purchase")
        guard set.end == range.upperBound else { throw .unreadable("bytes follow an in-app purchase") }
        var position = set.contents.lowerBound
        while position < set.contents.upperBound {
            let raw = try attribute(at: &position, before: set.contents.upperBound)
            guard let attribute = ReceiptAttribute(rawValue: raw.type), attribute.isInApp else { continue }
            guard try isToBeRead(attribute, alreadyRead: &alreadyRead) else { continue }
            purchase.set(attribute, to: try value(raw.value, of: attribute))
        }
        guard !purchase.productID.isEmpty else { throw missing(.productID) }
        guard !purchase.transactionID.isEmpty else { throw missing(.transactionID) }
        return purchase
    }

    // MARK: Attributes

    /// Returns the attributes of the set at `range`.
    mutating func attributes(in range: Range<Int>) throws(Rejection) -> [RawReceiptAttribute] {
        let set = try reader.element(BERTag.set, at: range.lowerBound, before: range.upperBound, "the attributes")
        var attributes: [RawReceiptAttribute] = []
        var position = set.contents.lowerBound
        while position < set.contents.upperBound {
            attributes.append(try attribute(at: &position, before: set.contents.upperBound))
        }
        return attributes
    }

    /// Reads the attribute at `position`, and moves `position` to the next attribute.
    @inline(__always)
    private mutating func attribute(
        at position: inout Int, before limit: Int
    ) throws(Rejection) -> RawReceiptAttribute {
        let sequence = try reader.element(BERTag.sequence, at: position, before: limit, "an attribute")
        let end = sequence.contents.upperBound
        let type = try reader.primitive(at: sequence.contents.lowerBound, before: end)
        guard type.tag == BERTag.integer else { throw .unreadable("the type of an attribute isn't a number") }
        // Reject larger numbers instead of truncating them: 2^32 + 2 must not become 2.
        guard let number = reader.unsignedInteger(in: type.contents), number <= UInt64(Int32.max)
        else { throw .unreadable("the type of an attribute is negative, or larger than 32 bits") }
        let version = try reader.primitive(at: type.end, before: end)
        guard version.tag == BERTag.integer else { throw .unreadable("the version of an attribute isn't a number") }
        guard version.end < end else { throw .unreadable("an attribute has no value") }
        // The value is a primitive in DER. In BER, it may be in chunks, which are joined.
        let isPrimitive = reader.bytes[version.end] == BERTag.octetString
        let octets =
            try isPrimitive
            ? reader.primitive(at: version.end, before: end) : reader.element(at: version.end, before: end)
        guard octets.end == end
        else { throw .unreadable("an attribute has more than three parts: type, version and value") }
        let value = try reader.octets(of: octets)
        position = sequence.end
        return RawReceiptAttribute(type: Int32(truncatingIfNeeded: number), value: value)
    }

    /// Whether to read the attribute. False for a repeated attribute on which no decision depends. Throws for a
    /// repeated attribute that may occur once.
    ///
    /// - Parameter alreadyRead: a bit for each attribute that was read before.
    @inline(__always)
    private func isToBeRead(_ attribute: ReceiptAttribute, alreadyRead: inout UInt64) throws(Rejection) -> Bool {
        let bit = attribute.bit
        if alreadyRead & bit == 0 {
            alreadyRead |= bit
            return true
        }
        switch attribute.reading {
        case .repeated: return true
        case .lenient: return false
        // Reject the receipt: this parser might use the first value, and another parser the second.
        case .strict, .required, .once:
            throw .unreadable("attribute \(attribute.rawValue), `\(attribute.name)`, occurs twice")
        }
    }

    /// Decodes the value of an attribute. Nil if the value is absent, or if it is unreadable and the attribute's
    /// `reading` allows that.
    @inline(__always)
    private func value(
        _ range: Range<Int>, of attribute: ReceiptAttribute
    ) throws(Rejection) -> ReceiptValue? {
        switch ReceiptValue(reader, range, as: attribute.encoding) {
        case .malformed where attribute.reading.refusesUnreadable:
            throw .unreadable("attribute \(attribute.rawValue), `\(attribute.name)`, can't be read")
        case .malformed, .absent: return nil
        case let value: return value
        }
    }
}

private func missing(_ attribute: ReceiptAttribute) -> Rejection {
    .unreadable("attribute \(attribute.rawValue), `\(attribute.name)`, is missing")
}

extension ReceiptPayload {
    /// Stores an attribute in its property. Attributes without a property are only in `attributes`.
    fileprivate mutating func set(_ attribute: ReceiptAttribute, to value: ReceiptValue?, at range: Range<Int>) {
        switch attribute {
        case .receiptType: receiptType = value?.text ?? ""
        case .bundleID:
            bundleID = value?.text ?? ""
            encodedBundleID = range
        case .appAppleID: appAppleID = value?.number
        case .appVersion: appVersion = value?.text
        case .opaqueValue: opaqueValue = range
        case .sha1Hash: sha1Hash = range
        case .creationDate: creationDate = value?.date
        case .downloadID: downloadID = value?.number
        case .versionExternalIdentifier: versionExternalIdentifier = value?.number
        case .originalPurchaseDate: originalPurchaseDate = value?.date
        case .originalAppVersion: originalAppVersion = value?.text
        case .preorderDate: preorderDate = value?.date
        case .expirationDate: expirationDate = value?.date
        default: break
        }
    }
}

extension InAppPurchase {
    /// Stores an attribute in its property, if it has one.
    fileprivate mutating func set(_ attribute: ReceiptAttribute, to value: ReceiptValue?) {
        guard let value else { return }
        switch attribute {
        case .quantity: quantity = value.number
        case .productID: productID = value.text ?? ""
        case .transactionID: transactionID = value.text ?? ""
        case .purchaseDate: purchaseDate = value.date
        case .originalTransactionID: originalTransactionID = value.text
        case .originalTransactionPurchaseDate: originalPurchaseDate = value.date
        case .productType: productType = value.number
        case .expiresDate: expiresDate = value.date
        case .webOrderLineItemID: webOrderLineItemID = value.number
        case .cancellationDate: cancellationDate = value.date
        case .isTrialPeriod: isTrialPeriod = value.flag
        case .isInIntroOfferPeriod: isInIntroOfferPeriod = value.flag
        case .promotionalOfferID: promotionalOfferID = value.text
        default: break
        }
    }
}

/// The value of an attribute, decoded with the attribute's encoding.
enum ReceiptValue {
    case text(String)
    case number(UInt64)
    case flag(Bool)
    case date(Date)
    /// The octets themselves are the value.
    case octets
    /// An empty string, which means that there is no value.
    case absent
    /// The octets don't have the attribute's encoding.
    case malformed

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: UInt64? { if case .number(let number) = self { number } else { nil } }
    var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    var date: Date? { if case .date(let date) = self { date } else { nil } }

    /// Decodes the value at `range` of the reader's bytes.
    @inline(__always) init(_ reader: BERReader, _ range: Range<Int>, as encoding: ReceiptAttribute.Encoding) {
        self = Self.decoded(reader, range, as: encoding) ?? .malformed
    }

    /// Returns nil if the octets don't have the attribute's encoding.
    @inline(__always) private static func decoded(
        _ reader: BERReader, _ range: Range<Int>, as encoding: ReceiptAttribute.Encoding
    ) -> ReceiptValue? {
        if encoding == .raw || encoding == .attributes { return .octets }
        guard let element = try? reader.primitive(at: range.lowerBound, before: range.upperBound),
            element.end == range.upperBound
        else { return nil }
        switch encoding {
        case .raw, .attributes: return .octets
        case .integer, .boolean:
            guard element.tag == BERTag.integer, let number = reader.unsignedInteger(in: element.contents)
            else { return nil }
            if encoding == .integer { return .number(number) }
            return number <= 1 ? .flag(number == 1) : nil
        case .utf8String, .ia5String:
            guard Self.isText(element.tag) else { return nil }
            return element.contents.isEmpty ? .absent : Self.text(in: reader.bytes, element.contents)
        case .date:
            guard Self.isText(element.tag) else { return nil }
            if element.contents.isEmpty { return .absent }
            return ReceiptDate.date(in: reader.bytes, element.contents).map { .date($0) }
        }
    }

    /// Whether the tag is UTF8String, IA5String or PrintableString. All three are accepted for any text attribute.
    private static func isText(_ tag: UInt8) -> Bool {
        tag == BERTag.utf8String || tag == BERTag.ia5String || tag == BERTag.printableString
    }

    /// Reads a string. Nil for invalid UTF-8 and NUL.
    @inline(__always) private static func text(in bytes: [UInt8], _ range: Range<Int>) -> ReceiptValue? {
        let slice = bytes[range]
        let text = String(decoding: slice, as: UTF8.self)
        // `String(decoding:)` replaces invalid UTF-8, and then the bytes differ. ASCII, which most texts are, is always
        // valid. Reject NUL, because PostgreSQL can't store it in text.
        let isPlain = slice.allSatisfy { $0 < 0x80 && $0 != 0 }
        return isPlain || !slice.contains(0) && text.utf8.elementsEqual(slice) ? .text(text) : nil
    }
}
