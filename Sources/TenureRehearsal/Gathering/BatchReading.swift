import TenureStore

/// The result of reading a batch of lines of an evidence file: the encoded records (`SpillRecord`) that are put into
/// buckets, and the bad lines.
struct BatchReading: Sendable {
    /// The counts of the batch's lines and rejected artifacts.
    private(set) var counts = InputCounts()
    /// The encoded records, one after the other.
    private(set) var records: [UInt8] = []
    /// The index at which each record in `records` ends, and the number of the bucket that it belongs to.
    private(set) var ends: [(bucket: Int, end: Int)] = []
    /// The rejected artifacts and lines, in order. A line with several rejected artifacts has an element for each.
    private(set) var badLines: [BadLine] = []

    init(_ batch: LineBatch, by reader: LineReader) {
        if let line = batch.skippedLine {
            let fault = LineFault(
                .lineTooLong,
                "the line has more than \(EvidenceLine.maximumSize) bytes, more than any customer's artifacts")
            counts.add(line: [fault], isUsable: false)
            badLines.append(BadLine(line: line, fault: fault, isWholeLine: true))
        }
        // Facts take much less space than the signed artifacts that prove them.
        records.reserveCapacity(batch.size / 16)
        batch.forEach { number, line in
            guard !line.isEmpty else {
                counts.addBlankLine()
                return
            }
            let reading = reader.read(line)
            counts.add(line: reading.faults, isUsable: reading.entry != nil)
            for fault in reading.faults {
                badLines.append(BadLine(line: number, fault: fault, isWholeLine: reading.entry == nil))
            }
            if let entry = reading.entry { add(entry) }
        }
    }

    /// Adds the entry of a line under the most reliable name of its customer, and an alias for each other name.
    private mutating func add(_ entry: Entry) {
        guard let name = entry.names.first else { return }
        let nextName = name.kind == .exported ? entry.names.dropFirst().first : nil
        let facts = entry.facts.encoded[...]
        append(SpillRecord(name, .entry(.init(exportedID: entry.exportedID, nextName: nextName, facts: facts))))
        // Add an alias from each less reliable name to the most reliable one. A second name of the same kind gets none,
        // because only a more reliable name can join lines.
        for other in entry.names.dropFirst() where other.kind < name.kind { append(SpillRecord(other, .alias(name))) }
    }

    /// Encodes an entry or an alias, and notes its bucket.
    private mutating func append(_ record: SpillRecord) {
        record.append(to: &records)
        ends.append((SpillFolder.bucket(of: record.name, at: GatheringStage(of: record.name.kind)), records.count))
    }
}

/// A rejected line, or a rejected artifact of a line.
package struct BadLine: Sendable, Hashable {
    /// The number of the line, from 1.
    package let line: Int
    /// Why the line or the artifact is rejected.
    package let fault: LineFault
    /// Whether the whole line is rejected, because no artifact in it is valid.
    package let isWholeLine: Bool
}
