import Foundation

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
        if encoding == .raw || encoding == .attributes {
            self = .octets
            return
        }
        guard let element = try? reader.primitive(at: range.lowerBound, before: range.upperBound),
            element.end == range.upperBound
        else {
            self = .malformed
            return
        }
        switch encoding {
        case .utf8String, .ia5String:
            guard Self.isText(element.tag) else { break }
            self = Self.text(in: reader.bytes, element.contents)
            return
        case .date:
            guard Self.isText(element.tag) else { break }
            if element.contents.isEmpty {
                self = .absent
            } else if let date = ReceiptDate.date(in: reader.bytes, element.contents) {
                self = .date(date)
            } else {
                break
            }
            return
        case .integer:
            guard element.tag == BERTag.integer, let number = reader.unsignedInteger(in: element.contents)
            else { break }
            self = .number(number)
            return
        case .boolean:
            guard element.tag == BERTag.integer, let number = reader.unsignedInteger(in: element.contents), number <= 1
            else { break }
            self = .flag(number == 1)
            return
        case .raw, .attributes: break
        }
        self = .malformed
    }

    /// Whether the tag is UTF8String, IA5String or PrintableString. All three are accepted for any text attribute.
    private static func isText(_ tag: UInt8) -> Bool {
        tag == BERTag.utf8String || tag == BERTag.ia5String || tag == BERTag.printableString
    }

    /// Reads a string. Invalid UTF-8 and NUL make it malformed.
    @inline(__always) private static func text(in bytes: [UInt8], _ range: Range<Int>) -> ReceiptValue {
        if range.isEmpty { return .absent }
        let slice = bytes[range]
        let text = String(decoding: slice, as: UTF8.self)
        // `String(decoding:)` replaces invalid UTF-8, and then the bytes differ. ASCII, which most texts are, is always
        // valid. Reject NUL, because PostgreSQL can't store it in text.
        let isPlain = slice.allSatisfy { $0 < 0x80 && $0 != 0 }
        guard isPlain || !slice.contains(0) && text.utf8.elementsEqual(slice) else { return .malformed }
        return .text(text)
    }
}
