package import Foundation
import TenureCore

/// Writes JSON into bytes, field by field, in the order in which it is told.
///
/// The service's answers go through it: an encoder that finds out what to write costs more than everything else that a
/// request needs. Who calls it keeps objects and arrays balanced.
package struct JSONWriter {
    package enum Layout: Sendable {
        /// Without blanks: for programs.
        case compact
        /// Indented by two: for people.
        case readable
    }

    package private(set) var bytes: [UInt8] = []
    let layout: Layout
    private var needsComma = false
    private var followsKey = false
    private var depth = 0

    package init(_ layout: Layout = .compact, capacity: Int = 1024) {
        self.layout = layout
        bytes.reserveCapacity(capacity)
    }

    // MARK: Structure

    package mutating func beginObject() { open("{") }
    package mutating func endObject() { close("}") }
    package mutating func beginArray() { open("[") }
    package mutating func endArray() { close("]") }

    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    package mutating func array<Element>(
        _ elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        beginArray()
        for element in elements { body(&self, element) }
        endArray()
    }

    package mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        if layout == .readable { bytes.append(UInt8(ascii: " ")) }
        needsComma = false
        followsKey = true
    }

    package mutating func key(_ key: some CodingKey) { self.key(key.stringValue) }

    // MARK: Values

    package mutating func value(_ text: String) {
        separate()
        quote(text)
        needsComma = true
    }

    package mutating func value(_ flag: Bool) { literal(flag ? "true" : "false") }

    package mutating func value(_ number: some BinaryInteger) {
        separate()
        append(number: Int64(clamping: number))
        needsComma = true
    }

    /// The shortest digits that read back as the same number; null where JSON has none.
    package mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        separate()
        bytes.append(contentsOf: number.description.utf8)
        needsComma = true
    }

    package mutating func null() { literal("null") }

    /// RFC 3339 in UTC, with milliseconds where there are any.
    package mutating func value(_ date: Date) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        date.appendRFC3339(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    package mutating func value(_ date: Date?) {
        if let date { value(date) } else { null() }
    }

    package mutating func value(_ texts: [String]) {
        beginArray()
        for text in texts { value(text) }
        endArray()
    }

    /// Writes a value that a compact text may repeat; says where it stands.
    mutating func repeatable(_ body: (inout JSONWriter) -> Void) -> Range<Int> {
        let start = bytes.count + (needsComma && !followsKey ? 1 : 0)
        body(&self)
        return start..<bytes.count
    }

    /// Writes once more what stands there.
    mutating func repeated(_ place: Range<Int>) {
        separate()
        // A copy: with a slice of itself the array would copy all of its bytes.
        let value = [UInt8](bytes[place])
        bytes += value
        needsComma = true
    }

    // MARK: Parts

    private mutating func literal(_ text: StaticString) {
        separate()
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
        needsComma = true
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
        depth += 1
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        depth -= 1
        // `needsComma`: something stands between the brackets.
        if layout == .readable, needsComma { breakLine() }
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func separate() {
        if followsKey {
            followsKey = false
            return
        }
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        if layout == .readable, depth > 0 { breakLine() }
    }

    private mutating func breakLine() {
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let isPlain: Bool? = text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard Self.isPlain(utf8) else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        if isPlain != true {
            for byte in text.utf8 { append(escaping: byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing in it needs an escape; eight bytes at a time.
    private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(utf8)
        var position = 0
        while bytes.count - position >= 8 {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            guard JSONWord.escaped(word) == 0 else { return false }
            position += 8
        }
        while position < bytes.count {
            if needsEscape(bytes[position]) { return false }
            position += 1
        }
        return true
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func append(escaping byte: UInt8) {
        guard Self.needsEscape(byte) else {
            bytes.append(byte)
            return
        }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }

    private mutating func append(number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        append(digits: number.magnitude, width: 1)
    }

    private mutating func append(digits number: UInt64, width: Int) {
        let start = bytes.count
        var rest = number
        while rest > 0 || bytes.count - start < width {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        bytes[start...].reverse()
    }
}
