/// The counts of lines and rejected artifacts.
package struct InputCounts: Sendable, Hashable {
    /// All lines, including blank lines.
    private(set) var lines = 0
    private(set) var blankLines = 0
    /// Lines with at least one valid artifact.
    private(set) var usableLines = 0
    /// Lines with valid and rejected artifacts.
    private(set) var partlyRejectedLines = 0
    /// The numbers of lines without a valid artifact, by the code of the line's fault. If the line itself is correct
    /// and all of its artifacts are rejected, the code is that of its first artifact.
    private(set) var rejectedLines: [String: Int] = [:]
    /// The numbers of rejected artifacts in lines that also have a valid artifact, by the code of the fault.
    private(set) var rejectedArtifacts: [String: Int] = [:]

    /// Lines without a valid artifact.
    var rejectedLineCount: Int { rejectedLines.values.reduce(0, +) }
    /// Lines with at least one rejected artifact.
    var linesWithRejections: Int { rejectedLineCount + partlyRejectedLines }
    /// Lines that aren't blank.
    var writtenLines: Int { lines - blankLines }

    mutating func addBlankLine() {
        lines += 1
        blankLines += 1
    }

    /// Counts a line.
    ///
    /// - Parameters:
    ///   - faults: the problems of the line and of its artifacts.
    ///   - isUsable: whether the line has a valid artifact.
    mutating func add(line faults: [LineFault], isUsable: Bool) {
        lines += 1
        if isUsable {
            usableLines += 1
            if !faults.isEmpty { partlyRejectedLines += 1 }
            for fault in faults { rejectedArtifacts[fault.code.name, default: 0] += 1 }
        } else if let fault = faults.first(where: { $0.part == nil }) ?? faults.first {
            rejectedLines[fault.code.name, default: 0] += 1
        }
    }

    mutating func add(_ other: InputCounts) {
        lines += other.lines
        blankLines += other.blankLines
        usableLines += other.usableLines
        partlyRejectedLines += other.partlyRejectedLines
        rejectedLines.merge(other.rejectedLines, uniquingKeysWith: +)
        rejectedArtifacts.merge(other.rejectedArtifacts, uniquingKeysWith: +)
    }
}
