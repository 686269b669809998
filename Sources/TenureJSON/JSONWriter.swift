package import Foundation

/// Writes JSON into bytes, field by field, in the order of the calls.
///
/// The service uses it for responses, because `JSONEncoder` would take more time than all other work of a request. The
/// caller must end each object and array that it begins.
package struct JSONWriter: ~Copyable, TextPieces {
    /// Where white space is written.
    package enum Layout: Sendable {
        /// No white space.
        case compact
        /// Values on separate lines, indented by two spaces.
        case readable
    }

    private var output: UTF8Builder
    package let layout: Layout
    /// Whether a comma must precede the next key or value.
    private var needsComma = false
    /// Whether a key was just written, so that its value follows on the same line.
    private var followsKey = false
    /// The number of objects and arrays that were begun and not ended.
    private var depth = 0

    /// - Parameter capacity: the expected size of the JSON in bytes. The writer grows if the JSON is larger.
    package init(_ layout: Layout = .compact, capacity: Int = 1024) {
        self.layout = layout
        output = UTF8Builder(capacity: capacity)
    }

    /// Returns an object with the fields that `body` writes.
    package static func object(
        _ layout: Layout = .compact, capacity: Int = 1024, _ body: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var json = JSONWriter(layout, capacity: capacity)
        json.object(body)
        return json.bytes
    }

    /// The JSON that was written so far.
    package var bytes: [UInt8] { output.bytes }

    /// Calls `body` with the JSON that was written so far. Copies nothing.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try output.withBytes(body)
    }

    // MARK: Structure

    // Prefer `object(_:)` and `array(_:_:)`, which also end what they begin.
    package mutating func beginObject() { open("{") }
    package mutating func endObject() { close("}") }
    package mutating func beginArray() { open("[") }
    package mutating func endArray() { close("]") }

    /// Writes an object with the fields that `body` writes.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    /// Writes an array. `body` writes one element.
    @inlinable package mutating func array<Element>(
        _ elements: some Collection<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        beginArray()
        // Access by index: copying an element would change a reference count that all threads share.
        for index in elements.indices { body(&self, elements[index]) }
        endArray()
    }

    /// Writes the key of a field. The caller must write the field's value next.
    package mutating func key(_ name: String) {
        separate()
        quote(name)
        output.append(":")
        if layout == .readable { output.append(" ") }
        needsComma = false
        followsKey = true
    }

    @inlinable package mutating func key(_ key: some CodingKey) { self.key(key.stringValue) }

    // MARK: Values

    package mutating func value(_ text: String) {
        separate()
        quote(text)
        needsComma = true
    }

    /// Writes one string from the pieces that `body` writes.
    package mutating func text(_ body: (inout JSONWriter) -> Void) {
        separate()
        output.append("\"")
        body(&self)
        output.append("\"")
        needsComma = true
    }

    package mutating func value(_ flag: Bool) { literal(flag ? "true" : "false") }

    @inlinable package mutating func value(_ number: some BinaryInteger) { value(Int64(clamping: number)) }

    package mutating func value(_ number: Int64) {
        separate()
        if number < 0 { output.append("-") }
        output.append(decimal: number.magnitude)
        needsComma = true
    }

    /// Writes the shortest digits that are read as the same number. Writes null for infinities and NaN.
    package mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        separate()
        output.append(text: number.description)
        needsComma = true
    }

    package mutating func null() { literal("null") }

    /// Writes RFC 3339 in UTC, with milliseconds if they aren't zero.
    package mutating func value(_ date: Date) {
        separate()
        output.append("\"")
        date.appendRFC3339(to: &output)
        output.append("\"")
        needsComma = true
    }

    package mutating func value(_ date: Date?) { if let date { value(date) } else { null() } }

    package mutating func value(_ texts: [String]) {
        beginArray()
        for text in texts { value(text) }
        endArray()
    }

    /// Writes a value, and returns its range in the output, with which `repeated` writes it again. Use it only with the
    /// compact layout.
    package mutating func repeatable(_ body: (inout JSONWriter) -> Void) -> Range<Int> {
        // A comma before the value isn't part of the range.
        let start = output.count + (needsComma && !followsKey ? 1 : 0)
        body(&self)
        return start..<output.count
    }

    /// Writes a copy of the value that `repeatable` wrote at `range`.
    package mutating func repeated(_ range: Range<Int>) {
        separate()
        output.appendAgain(range)
        needsComma = true
    }

    // MARK: Parts

    private mutating func literal(_ text: String) {
        separate()
        output.append(text: text)
        needsComma = true
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        output.append(bracket)
        needsComma = false
        depth += 1
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        depth -= 1
        // If `needsComma` is true, there is something between the brackets.
        if layout == .readable, needsComma { breakLine() }
        output.append(bracket)
        needsComma = true
    }

    /// Writes the comma and the line break that precede a key, or a value without a key.
    private mutating func separate() {
        if followsKey {
            followsKey = false
            return
        }
        if needsComma { output.append(",") }
        if layout == .readable, depth > 0 { breakLine() }
    }

    private mutating func breakLine() {
        output.append("\n")
        output.append(UInt8(ascii: " "), times: depth * 2)
    }

    /// Writes a string in quotes, with the necessary escapes.
    private mutating func quote(_ value: String) {
        output.append("\"")
        write(value)
        output.append("\"")
    }

    /// Writes a piece of a string with the necessary escapes, within a call of `text`.
    package mutating func write(_ piece: String) {
        let written: Void? = piece.utf8.withContiguousStorageIfAvailable { utf8 in
            var position = output.appendPlain(utf8)
            while position < utf8.count {
                append(escaping: utf8[position])
                position += 1
                position += output.appendPlain(UnsafeBufferPointer(rebasing: utf8[position...]))
            }
        }
        // A string without contiguous storage is written byte by byte.
        if written == nil { for byte in piece.utf8 { append(escaping: byte) } }
    }

    /// Writes one byte of a string, with an escape if it needs one.
    private mutating func append(escaping byte: UInt8) {
        guard JSONWord.isEscaped(byte) else { return output.append(byte) }
        output.append("\\")
        switch byte {
        case UInt8(ascii: "\n"): output.append("n")
        case UInt8(ascii: "\r"): output.append("r")
        case UInt8(ascii: "\t"): output.append("t")
        case 0..<0x20:
            output.append(text: "u00")
            output.append(HexDigit.lowercase(byte >> 4))
            output.append(HexDigit.lowercase(byte & 15))
        default: output.append(byte)
        }
    }
}
