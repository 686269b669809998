import TenureCore

/// Some consecutive lines of an evidence file, which one task reads.
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
            body(number, head[...].trimmingASCIIWhitespace)
            number += 1
        }
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes.firstIndex(of: .newline, from: start) ?? bytes.endIndex
            body(number, bytes[start..<end].trimmingASCIIWhitespace)
            number += 1
            start = end + 1
        }
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
}
