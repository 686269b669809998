import TenureCore

/// Divides a stream of bytes into batches of whole lines. The use of memory is limited, even for very long lines.
///
/// The bytes arrive in chunks. Bytes are copied only for a line that continues in the next chunk.
struct LineSplitter {
    /// The maximum length of a line in bytes. A longer line is skipped, and its number is reported.
    let maximumLineLength: Int
    /// The beginning of a line that hasn't ended yet.
    private var unfinishedLine: [UInt8] = []
    /// The number of the first line that isn't in a batch yet.
    private var nextLine = 1
    /// Whether the current line is too long, so that its bytes are skipped up to the next line break.
    private var isSkipping = false
    /// Whether the next bytes are the first of the stream, so that a byte order mark may be there.
    private var isFirst = true

    /// The maximum number of lines in a batch. A batch of many short lines would take too long.
    private static let maximumLines = 4096
    /// The byte order mark of UTF-8, which some editors write at the beginning of a file.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(maximumLineLength: Int = EvidenceLine.maximumSize) { self.maximumLineLength = maximumLineLength }

    /// Adds bytes, and returns the batches that are now complete.
    mutating func batches(adding chunk: [UInt8]) -> [LineBatch] {
        var chunk = chunk[...]
        if isFirst {
            // Skip a byte order mark, which may be divided between two chunks.
            chunk = (unfinishedLine + chunk)[...]
            unfinishedLine = []
            guard chunk.count >= Self.byteOrderMark.count else {
                unfinishedLine = Array(chunk)
                return []
            }
            isFirst = false
            if chunk.starts(with: Self.byteOrderMark) { chunk = chunk.dropFirst(Self.byteOrderMark.count) }
        }
        if isSkipping {
            guard let newline = chunk.firstIndex(of: .newline, from: chunk.startIndex) else { return [] }
            isSkipping = false
            chunk = chunk[(newline + 1)...]
        }
        var batches: [LineBatch] = []
        let head = takeHead(from: &chunk, &batches)
        cut(&chunk, after: head, into: &batches)
        unfinishedLine += chunk
        if unfinishedLine.count > maximumLineLength {
            skip(&batches)
            isSkipping = true
            unfinishedLine = []
        }
        return batches
    }

    /// Returns the line that began in an earlier chunk and ends in this chunk. Empty if there is no such line, or if
    /// the line is too long.
    private mutating func takeHead(from chunk: inout ArraySlice<UInt8>, _ batches: inout [LineBatch]) -> [UInt8] {
        guard !unfinishedLine.isEmpty, let newline = chunk.firstIndex(of: .newline, from: chunk.startIndex) else {
            return []
        }
        defer {
            unfinishedLine = []
            chunk = chunk[(newline + 1)...]
        }
        guard unfinishedLine.count + newline - chunk.startIndex <= maximumLineLength else {
            skip(&batches)
            return []
        }
        return unfinishedLine + chunk[...newline]
    }

    /// Removes from the chunk all lines that end in it, and puts them into batches. If `head`, a line from `takeHead`,
    /// isn't empty, the first batch begins with it. Does nothing if the whole chunk belongs to one unfinished line.
    private mutating func cut(_ chunk: inout ArraySlice<UInt8>, after head: [UInt8], into batches: inout [LineBatch]) {
        guard unfinishedLine.isEmpty else { return }
        var head = head
        var start = chunk.startIndex
        while true {
            var end = start
            var lines = head.isEmpty ? 0 : 1
            while lines < Self.maximumLines, let newline = chunk.firstIndex(of: .newline, from: end),
                newline - end <= maximumLineLength
            {
                end = newline + 1
                lines += 1
            }
            if lines > 0 {
                batches.append(LineBatch(firstLine: nextLine, head: head, bytes: chunk[start..<end]))
                nextLine += lines
                head = []
                start = end
            } else if let newline = chunk.firstIndex(of: .newline, from: start) {
                // The next line is too long.
                skip(&batches)
                start = newline + 1
            } else {
                chunk = chunk[start...]
                return
            }
        }
    }

    /// Adds an empty batch that reports the current line as too long.
    private mutating func skip(_ batches: inout [LineBatch]) {
        batches.append(LineBatch(firstLine: nextLine + 1, bytes: [], skippedLine: nextLine))
        nextLine += 1
    }

    /// Returns the last line if it has no line break; nil if the stream ended with a line break.
    mutating func end() -> LineBatch? {
        defer { unfinishedLine = [] }
        return unfinishedLine.isEmpty ? nil : LineBatch(firstLine: nextLine, bytes: unfinishedLine[...])
    }
}

/// Some consecutive lines of an evidence file, which one task reads.
struct LineBatch: Sendable {
    /// The number of the first line. The first line of the input has number 1.
    let firstLine: Int
    /// The first line, if it began in an earlier chunk of the input; otherwise empty.
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
