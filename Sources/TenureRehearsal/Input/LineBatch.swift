import Foundation

/// Some lines of the input, for one task.
struct LineBatch: Sendable {
    /// The number of the first line. The first line of the input has number 1.
    let firstLine: Int
    /// The first line, if it began in an earlier piece of the input; otherwise empty.
    var head: [UInt8] = []
    /// Whole lines with line breaks; the last line may have no line break. The bytes are a slice of the input, not a
    /// copy.
    let bytes: ArraySlice<UInt8>
    /// The number of a line that was skipped before the first line, because it is too long; nil if no line was skipped.
    var skippedLine: Int?

    /// The number of bytes in the batch.
    var size: Int { head.count + bytes.count }

    /// Passes the number and the bytes of each line, without line break and surrounding blanks. Includes empty lines.
    func forEach(_ body: (Int, ArraySlice<UInt8>) -> Void) {
        var number = firstLine
        if !head.isEmpty {
            body(number, head[...].trimmed)
            number += 1
        }
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes.first(.newline, from: start) ?? bytes.endIndex
            body(number, bytes[start..<end].trimmed)
            number += 1
            start = end + 1
        }
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
}

extension ArraySlice<UInt8> {
    /// Returns the position of the next byte with this value. `memchr` is many times as fast as a loop.
    func first(_ byte: UInt8, from start: Int) -> Int? {
        withUnsafeBytes { buffer in
            let offset = start - startIndex
            guard offset >= 0, offset < buffer.count, let base = buffer.baseAddress,
                let found = memchr(base + offset, Int32(byte), buffer.count - offset)
            else { return nil }
            return startIndex + (UnsafeRawPointer(found) - base)
        }
    }

    /// The bytes without the ASCII blanks at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var slice = self
        while let first = slice.first, isBlank(first) { slice = slice.dropFirst() }
        while let last = slice.last, isBlank(last) { slice = slice.dropLast() }
        return slice
    }
}
