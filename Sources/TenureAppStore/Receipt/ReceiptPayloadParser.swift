/// Reads the content of an app receipt: `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`. Each
/// value of attribute 17, which is one in-app purchase, has the same format.
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

    /// Whether to read this occurrence of an attribute. For a second occurrence, the attribute's `reading` determines
    /// the result: read it, ignore it, or reject the receipt.
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
        // Reject the receipt, because another parser might use the second value instead of the first.
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
