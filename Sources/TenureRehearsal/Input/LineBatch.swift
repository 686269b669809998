import Foundation

/// Some lines of the input, for one task.
struct LineBatch: Sendable {
    /// Counted from 1.
    let firstLine: Int
    /// Whole lines, each with its end but perhaps the last.
    let bytes: [UInt8]
    /// The number of a line that was too long to be kept, and stands before these.
    let skippedLine: Int?

    /// Tells each line without its end and the blanks around it, with its number; empty ones too.
    func forEach(_ body: (Int, ArraySlice<UInt8>) -> Void) {
        var number = firstLine
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes.firstNewline(from: start) ?? bytes.endIndex
            body(number, bytes[start..<end].trimmed)
            number += 1
            start = end + 1
        }
    }
}

extension [UInt8] {
    /// By `memchr`, which is many times as fast as a loop.
    func firstNewline(from start: Int) -> Int? {
        withUnsafeBytes { buffer in
            guard start < buffer.count, let base = buffer.baseAddress,
                let found = memchr(base + start, 0x0A, buffer.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var slice = self
        while let first = slice.first, isBlank(first) { slice = slice.dropFirst() }
        while let last = slice.last, isBlank(last) { slice = slice.dropLast() }
        return slice
    }
}
