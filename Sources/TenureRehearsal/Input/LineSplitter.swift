import Foundation

/// Cuts a stream of bytes into batches of whole lines, in bounded memory however long a line is.
struct LineSplitter {
    /// A line is longer than this only where somebody wants memory: it is told by its number, and skipped.
    let longestLine: Int
    private var rest: [UInt8] = []
    private var nextLine = 1
    private var isSkipping = false
    private var isFirst = true

    /// Many short lines make as much work as few long ones.
    private static let mostLines = 4096
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(longestLine: Int = EvidenceLine.maximumSize) {
        self.longestLine = longestLine
    }

    /// The batches that are whole with these bytes.
    mutating func batches(adding chunk: [UInt8]) -> [LineBatch] {
        rest += chunk
        if isFirst, rest.count >= 3 {
            isFirst = false
            if rest.starts(with: Self.byteOrderMark) { rest.removeFirst(3) }
        }
        var batches: [LineBatch] = []
        var start = 0
        skipLine(from: &start)
        while start < rest.count {
            var end = start
            var lines = 0
            while lines < Self.mostLines, let newline = rest.firstNewline(from: end), newline - end <= longestLine {
                end = newline + 1
                lines += 1
            }
            if lines > 0 {
                batches.append(batch(rest[start..<end], lines: lines))
                start = end
            } else if rest.count - start > longestLine {
                batches.append(LineBatch(firstLine: nextLine + 1, bytes: [], skippedLine: nextLine))
                nextLine += 1
                isSkipping = true
                skipLine(from: &start)
            } else {
                break
            }
        }
        rest.removeFirst(start)
        return batches
    }

    /// The last line, which need not end.
    mutating func end() -> LineBatch? {
        defer { rest = [] }
        return rest.isEmpty ? nil : batch(rest[...], lines: 1)
    }

    private mutating func batch(_ bytes: ArraySlice<UInt8>, lines: Int) -> LineBatch {
        defer { nextLine += lines }
        return LineBatch(firstLine: nextLine, bytes: Array(bytes), skippedLine: nil)
    }

    private mutating func skipLine(from start: inout Int) {
        guard isSkipping else { return }
        if let newline = rest.firstNewline(from: start) {
            isSkipping = false
            start = newline + 1
        } else {
            start = rest.count
        }
    }
}
