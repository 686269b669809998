import Crypto
package import Foundation
package import TenureAppStore

/// The attributes of a receipt, or of one in-app purchase in it, before they are signed.
package struct ReceiptDraft: Sendable, Hashable {
    /// The value of an attribute, before it is encoded.
    package enum Value: Sendable, Hashable {
        /// A string, encoded as `ReceiptAttribute` specifies. For a date attribute, it may be an invalid date.
        case text(String)
        case number(UInt64)
        case flag(Bool)
        case date(Date)
        /// The raw content of the attribute's octet string.
        case octets([UInt8])
        /// An in-app purchase.
        case purchase(ReceiptDraft)
    }

    /// An attribute with its number, which may be unknown.
    package struct Attribute: Sendable, Hashable {
        package var type: UInt64
        package var value: Value

        package init(type: UInt64, value: Value) {
            self.type = type
            self.value = value
        }
    }

    /// The attributes, in the order in which BER encodes them. DER sorts them.
    package var attributes: [Attribute] = []
    /// The device identifier for the receipt's hash: the bytes of the `identifierForVendor`, or of a Mac's MAC address.
    /// If it is nil, the receipt has no hash. If the attribute `sha1_hash` is set, the device identifier isn't used.
    package var deviceIdentifier: [UInt8]?

    package init() {}

    /// The value of the first attribute with this number. Setting nil removes the attribute.
    package subscript(type: UInt64) -> Value? {
        get { attributes.first { $0.type == type }?.value }
        set {
            let index = attributes.firstIndex { $0.type == type }
            switch (index, newValue) {
            case (let index?, let value?): attributes[index].value = value
            case (let index?, nil): attributes.remove(at: index)
            case (nil, let value?): attributes.append(Attribute(type: type, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The value of the first attribute of this kind. Setting nil removes the attribute.
    package subscript(attribute: ReceiptAttribute) -> Value? {
        get { self[UInt64(attribute.rawValue)] }
        set { self[UInt64(attribute.rawValue)] = newValue }
    }

    /// Sets these attributes in their order. Leaves out the attributes that are nil.
    package mutating func add(_ attributes: KeyValuePairs<ReceiptAttribute, Value?>) {
        for case (let attribute, let value?) in attributes { self[attribute] = value }
    }

    /// The in-app purchases. Setting this property replaces all purchases.
    package var purchases: [ReceiptDraft] {
        get { attributes.compactMap { if case .purchase(let purchase) = $0.value { purchase } else { nil } } }
        set {
            let type = UInt64(ReceiptAttribute.inAppPurchase.rawValue)
            attributes.removeAll { $0.type == type }
            attributes += newValue.map { Attribute(type: type, value: .purchase($0)) }
        }
    }

    // MARK: Encoding

    /// Encodes the signed content: `SET OF SEQUENCE { type, version, value }`.
    func encoded(sorted: Bool) -> [UInt8] { DERWriter.set(encodedAttributes(sorted: sorted)) }

    /// Encodes each attribute, and adds the receipt's hash if there is a device identifier.
    func encodedAttributes(sorted: Bool) -> [[UInt8]] {
        var encoded = attributes.map { Self.encode(type: $0.type, octets: octets(of: $0, sorted: sorted)) }
        if self[.sha1Hash] == nil, let hash = deviceHash {
            encoded.append(Self.encode(type: UInt64(ReceiptAttribute.sha1Hash.rawValue), octets: hash))
        }
        return sorted ? DERWriter.sorted(encoded) : encoded
    }

    /// Encodes one attribute.
    static func encode(type: UInt64, octets: [UInt8]) -> [UInt8] {
        // Only the opaque value has version 2, as in Apple's receipts.
        let version: UInt64 = type == UInt64(ReceiptAttribute.opaqueValue.rawValue) ? 2 : 1
        return DERWriter.sequence(DERWriter.integer(type), DERWriter.integer(version), DERWriter.octetString(octets))
    }

    /// Encodes the value of an attribute.
    private func octets(of attribute: Attribute, sorted: Bool) -> [UInt8] {
        let encoding = Int32(exactly: attribute.type).flatMap(ReceiptAttribute.init(rawValue:))?.encoding
        switch attribute.value {
        case .octets(let bytes): return bytes
        case .number(let number): return DERWriter.integer(number)
        case .flag(let flag): return DERWriter.integer(flag ? 1 : 0)
        case .date(let date): return DERWriter.ia5String(ReceiptDate.text(date))
        case .text(let text): return encoding == .utf8String ? DERWriter.utf8String(text) : DERWriter.ia5String(text)
        case .purchase(let purchase): return purchase.encoded(sorted: sorted)
        }
    }

    /// The receipt's hash as Apple documents it: SHA-1 of the device identifier, the opaque value and the encoded
    /// bundle ID.
    private var deviceHash: [UInt8]? {
        guard let deviceIdentifier,
            let opaque = attributes.first(where: { $0.type == UInt64(ReceiptAttribute.opaqueValue.rawValue) }),
            let bundle = attributes.first(where: { $0.type == UInt64(ReceiptAttribute.bundleID.rawValue) })
        else { return nil }
        let bytes = deviceIdentifier + octets(of: opaque, sorted: true) + octets(of: bundle, sorted: true)
        return Array(Insecure.SHA1.hash(data: bytes))
    }
}
