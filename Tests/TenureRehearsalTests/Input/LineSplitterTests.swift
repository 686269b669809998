import Testing

@testable import TenureRehearsal

struct LineSplitterTests {
    private func lines(of text: String, chunk: Int, longest: Int = 100) -> [String] {
        var splitter = LineSplitter(maximumLineLength: longest)
        var batches: [LineBatch] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            batches += splitter.batches(adding: Array(rest.prefix(chunk)))
            rest = rest.dropFirst(chunk)
        }
        if let last = splitter.end() { batches.append(last) }
        var lines: [String] = []
        for batch in batches {
            if let skipped = batch.skippedLine { lines.append("\(skipped): too long") }
            batch.forEach { number, line in lines.append("\(number): \(String(decoding: line, as: UTF8.self))") }
        }
        return lines
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `evidence lines have the same numbers whatever the size of the blocks in which a file is read`(chunk: Int) {
        let text = "one\n\n  two \r\nthree\n\(String(repeating: "x", count: 250))\nfour"
        #expect(
            lines(of: text, chunk: chunk) == ["1: one", "2: ", "3: two", "4: three", "5: too long", "6: four"])
    }

    @Test(arguments: [1, 5, 1000])
    func `an evidence line that is too long is discarded while it is read, even at the end of the file`(chunk: Int) {
        let text = String(repeating: "x", count: 101) + "\na\n" + String(repeating: "y", count: 5000)
        #expect(lines(of: text, chunk: chunk) == ["1: too long", "2: a", "3: too long"])
    }

    @Test(arguments: [1, 50, 100, 101, 1000])
    func `an evidence line of the greatest length is read, whatever the size of the blocks`(chunk: Int) {
        let longest = String(repeating: "x", count: 100)
        #expect(lines(of: longest + "\n" + longest, chunk: chunk) == ["1: \(longest)", "2: \(longest)"])
    }

    @Test(arguments: [1, 2, 100])
    func `a byte order mark isn't part of the first evidence line`(chunk: Int) {
        #expect(lines(of: "\u{FEFF}a\nb\n", chunk: chunk) == ["1: a", "2: b"])
    }

    @Test func `a batch of evidence lines has no more lines than the limit for one task`() {
        var splitter = LineSplitter()
        let batches = splitter.batches(adding: Array(repeating: 0x0A, count: 10_000))
        #expect(batches.count == 3)
        #expect(batches.map(\.firstLine) == [1, 4097, 8193])
    }

    @Test(arguments: [1, 2])
    func `evidence of fewer bytes than a byte order mark is read`(chunk: Int) {
        for (text, expected) in [
            ("", []), ("a", ["1: a"]), ("a\n", ["1: a"]), ("\n\n", ["1: ", "2: "]), ("\na", ["1: ", "2: a"]),
        ] {
            #expect(lines(of: text, chunk: chunk) == expected)
        }
    }
}
