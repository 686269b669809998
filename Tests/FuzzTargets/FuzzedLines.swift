// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Foundation
    import TenureAppStore

    @testable import TenureRehearsal

    /// The reader of a rehearsal's files of evidence.
    ///
    /// Traps if an invariant doesn't hold.
    struct FuzzedLines: Sendable {
        private let reader: LineReader

        init(verifier: AppStoreVerifier, now: Date) {
            reader = LineReader(verifier: verifier, now: now, purchasesAreComplete: true)
        }

        /// Checks that the lines don't depend on how the bytes arrive, and reads each line.
        func read(_ input: [UInt8]) {
            let lines = Self.lines(of: [input])
            let middle = input.count / 2
            guard Self.lines(of: [Array(input[..<middle]), Array(input[middle...])]) == lines else {
                fatalError("lines depend on how the bytes arrive")
            }
            for line in lines {
                guard let bytes = line.bytes, !bytes.isEmpty else { continue }
                let reading = reader.read(bytes[...])
                guard reading.entry != nil || !reading.faults.isEmpty else {
                    fatalError("a line is lost without a word")
                }
            }
        }

        private struct Line: Hashable {
            let number: Int
            /// Nil if the line was too long to be kept.
            let bytes: [UInt8]?
        }

        /// Short, so that some inputs have longer lines.
        private static let maximumLineLength = 3072

        private static func lines(of chunks: [[UInt8]]) -> [Line] {
            var splitter = LineSplitter(maximumLineLength: maximumLineLength)
            var batches = chunks.flatMap { splitter.batches(adding: $0) }
            if let last = splitter.end() { batches.append(last) }
            var lines: [Line] = []
            for batch in batches {
                if let skipped = batch.skippedLine { lines.append(Line(number: skipped, bytes: nil)) }
                batch.forEach { lines.append(Line(number: $0, bytes: Array($1))) }
            }
            return lines
        }
    }
#endif
