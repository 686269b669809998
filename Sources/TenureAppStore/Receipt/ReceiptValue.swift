import Foundation

/// The value of a receipt's attribute, decoded with the attribute's encoding (`ReceiptAttribute.Encoding`).
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

    /// Reads a string. Nil if it has invalid UTF-8 or a NUL.
    @inline(__always) private static func text(in bytes: [UInt8], _ range: Range<Int>) -> ReceiptValue? {
        let slice = bytes[range]
        let text = String(decoding: slice, as: UTF8.self)
        // `String(decoding:)` replaces invalid UTF-8, and then the bytes differ. Most texts are ASCII, which needs no
        // comparison. Reject NUL, because PostgreSQL can't store it in text.
        let isPlain = slice.allSatisfy { $0 < 0x80 && $0 != 0 }
        let isValid = isPlain || (!slice.contains(0) && text.utf8.elementsEqual(slice))
        return isValid ? .text(text) : nil
    }
}
