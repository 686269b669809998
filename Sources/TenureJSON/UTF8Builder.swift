/// A growing buffer of UTF-8, into which `JSONWriter` writes.
///
/// It is faster than an array, because an array checks for each appended byte whether another array shares its storage.
package struct UTF8Builder: ~Copyable {
    // Safe: a builder can't be copied, so nothing else owns its memory. The first `count` of `capacity` bytes are
    // initialized. Each method that writes calls `reserve` first.
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    /// The number of bytes that were written.
    @usableFromInline var end = 0

    package init(capacity: Int) {
        self.capacity = max(capacity, 16)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    @inlinable package var count: Int { end }

    /// Calls `body` with the bytes that were written so far. Copies nothing.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try body(UnsafeBufferPointer(start: start, count: end))
    }

    /// A copy of the bytes that were written so far.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    @inlinable package mutating func append(_ byte: UInt8) {
        reserve(1)
        start[end] = byte
        end += 1
    }

    /// Appends an ASCII character.
    @inlinable package mutating func append(_ character: Unicode.Scalar) { append(UInt8(ascii: character)) }

    package mutating func append(text: String) { for byte in text.utf8 { append(byte) } }

    package mutating func append(_ byte: UInt8, times count: Int) {
        guard count > 0 else { return }
        reserve(count)
        (start + end).update(repeating: byte, count: count)
        end += count
    }

    /// Appends a copy of the bytes in `range`. Does nothing if the range is out of bounds.
    package mutating func appendAgain(_ range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= end else { return }
        reserve(range.count)
        (start + end).update(from: start + range.lowerBound, count: range.count)
        end += range.count
    }

    /// Appends bytes up to the first one that JSON escapes. Returns the number of appended bytes.
    package mutating func appendPlain(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        reserve(text.count)
        let source = UnsafeRawBufferPointer(text)
        let target = UnsafeMutableRawPointer(start + end)
        var position = 0
        while source.count - position >= 8 {
            let word = source.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            guard JSONWord.escaped(word) == 0 else { break }
            target.storeBytes(of: word, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        while position < text.count, !JSONWord.isEscaped(text[position]) {
            target.storeBytes(of: text[position], toByteOffset: position, as: UInt8.self)
            position += 1
        }
        end += position
        return position
    }

    /// Appends a number in decimal digits.
    package mutating func append(decimal number: UInt64) {
        reserve(20)
        let first = end
        var remaining = number
        repeat {
            start[end] = UInt8(ascii: "0") + UInt8(remaining % 10)
            end += 1
            remaining /= 10
        } while remaining > 0
        var digits = UnsafeMutableBufferPointer(start: start + first, count: end - first)
        digits.reverse()
    }

    /// Appends a number from 0 to 99 in two digits.
    @inlinable package mutating func append(pair number: Int) {
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / 10))
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number % 10))
    }

    /// Makes room for more bytes.
    @inlinable package mutating func reserve(_ more: Int) { if capacity - end < more { grow(by: more) } }

    @usableFromInline mutating func grow(by more: Int) {
        let larger = max(capacity * 2, end + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: start, count: end)
        start.deallocate()
        start = moved
        capacity = larger
    }
}
