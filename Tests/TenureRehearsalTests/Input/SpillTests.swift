import Foundation
import Testing

@testable import TenureRehearsal

/// The temporary files of a rehearsal, and its progress.
struct SpillTests {
    private static let purchase = CustomerName(kind: .purchase, environmentIndex: 0, text: "410")
    private static let account = CustomerName(kind: .appTransaction, environmentIndex: 1, text: "704é")

    private static func bytes(_ record: SpillRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        record.append(to: &bytes)
        return bytes
    }

    private static func entry(_ facts: [UInt8], id: String? = nil, nextName: CustomerName? = nil) -> SpillRecord {
        SpillRecord(account, .entry(.init(exportedID: id, nextName: nextName, facts: facts[...])))
    }

    private static func words(_ record: SpillRecord) -> String {
        switch record.content {
        case .alias(let target): "\(record.name.label) -> \(target.label)"
        case .entry(let entry):
            "\(record.name.label), \(entry.exportedID ?? "none"), \(entry.nextName?.label ?? "none"), \(Array(entry.facts))"
        }
    }

    @Test func `the records of evidence lines in temporary files keep their names, IDs and facts`() throws {
        let records = [
            Self.entry([1, 2, 3]), Self.entry([], id: "ada"), Self.entry([7], id: "ben", nextName: Self.purchase),
            SpillRecord(Self.purchase, .alias(Self.account)),
        ]
        let all = records.flatMap(Self.bytes)
        let expected = [
            "appTransactionID 704é, none, none, [1, 2, 3]", "appTransactionID 704é, ada, none, []",
            "appTransactionID 704é, ben, originalTransactionID 410, [7]",
            "originalTransactionID 410 -> appTransactionID 704é",
        ]
        // Any part of the records may be in the file, and the rest in memory.
        let scratch = try ScratchFolder()
        for length in [0, 5, all.count / 2, all.count] {
            let file = scratch.path + "/\(length)"
            try Data(all.prefix(length)).write(to: URL(fileURLWithPath: file))
            var found: [String] = []
            let contents = BucketContents(file: file, tail: Array(all.dropFirst(length)), isTaken: length == 5)
            try contents.forEach { found.append(Self.words($0)) }
            #expect(found == expected, "\(length)")
            // A taken bucket's file is deleted.
            #expect(FileManager.default.fileExists(atPath: file) == (length != 5))
        }
        var position = 0
        let environment = SpillRecord(all, at: &position)?.name.environmentIndex
        #expect(environment == 1 && position == Self.bytes(records[0]).count)
    }

    @Test func `records move to a file that only its owner can read, and the folder is removed at the end`() throws {
        let scratch = try ScratchFolder()
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.path) }
        func permissions(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        var folder: SpillFolder? = SpillFolder(in: scratch.path)
        // The buffer of a bucket has 16 KB.
        try folder?.append([UInt8](repeating: 0, count: 16_383)[...], to: 1)
        #expect(try files() == [])
        let record = Self.bytes(Self.entry(Array(repeating: 5, count: 8_000)))
        for _ in 0..<3 { try folder?.append(record[...], to: 7) }
        let path = scratch.path + "/" + (try #require(try files().first))
        #expect(path.hasPrefix(scratch.path + "/tenure-rehearsal-"))
        #expect(try permissions(path) == 0o700 && permissions(path + "/7") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["7"])
        try folder?.append([0], to: 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["1", "7"])
        func count(_ contents: BucketContents?) throws -> Int? {
            var count = 0
            try contents?.forEach { _ in count += 1 }
            return contents == nil ? nil : count
        }
        // Looking into a bucket doesn't remove its records.
        #expect(try count(folder?.peek(7)) == 3 && count(folder?.peek(8)) == nil)
        #expect(try count(folder?.removeRecords(of: 7)) == 3)
        #expect(try count(folder?.peek(7)) == nil && count(folder?.removeRecords(of: 7)) == nil)
        #expect(!FileManager.default.fileExists(atPath: path + "/7"))
        folder = nil
        #expect(try files() == [])
    }

    @Test func `a temporary folder that can't be made is an error with its path`() {
        let folder = SpillFolder(in: "/nonexistent")
        let error = #expect(throws: RehearsalError.self) {
            try folder.append([UInt8](repeating: 0, count: 16_384)[...], to: 0)
        }
        #expect(error?.description.hasPrefix("the temporary folder `/nonexistent/tenure-rehearsal-") == true)
    }

    @Test func `names of customers are labeled by their kind, and the most reliable name comes first`() {
        let labels = CustomerNameKind.allCases.map(\.label)
        #expect(labels == ["content", "originalTransactionID", "id", "downloadID", "appTransactionID"])
        let names = CustomerNameKind.allCases.map { CustomerName(kind: $0, environmentIndex: 0, text: "1") }
        #expect(names.sorted { $0.precedes($1) } == names.reversed())
        let other = CustomerName(kind: .appTransaction, environmentIndex: 0, text: "2")
        #expect(names[4].precedes(other) && other.precedes(Self.account) && !other.precedes(other))
    }

    @Test func `accounts that are joined in any order have one customer, the first of them`() {
        let accounts = (1...4).map { CustomerName(kind: .appTransaction, environmentIndex: 0, text: "\($0)") }
        let id = CustomerName(kind: .exported, environmentIndex: 0, text: "none")
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            var joins = AccountJoins()
            for index in order { joins.join(accounts[index], accounts[index + 1]) }
            #expect(accounts.allSatisfy { joins.root(of: $0) == accounts[0] && joins.isJoined($0) })
        }
        var joins = AccountJoins()
        joins.add(Set(accounts.prefix(1)), of: id)
        #expect(!joins.isJoined(accounts[0]) && joins.target(of: Set(accounts)) == nil)
        joins.add(Set(accounts.prefix(2)), of: id)
        #expect(joins.target(of: Set(accounts.prefix(2))) == accounts[0])
        #expect(joins.target(of: Set(accounts.suffix(2))) == nil && joins.target(of: []) == nil)
    }

    @Test func `an evidence line may have eight megabytes`() {
        for (length, skipped) in [(8_388_608, nil), (8_388_609, 1)] as [(Int, Int?)] {
            var splitter = LineSplitter()
            let batches = splitter.batches(adding: Array(repeating: UInt8(ascii: "x"), count: length) + [0x0A])
            #expect(batches.map(\.skippedLine) == [skipped])
        }
    }

    @Test(
        arguments: [
            ("ada", 4_619_286_102_254_192_906), ("ben", 1_768_317_562_083_493_321), ("", 17_957_945_085_701_497_102),
            ("12345678", 3_179_295_292_295_021_661),
            ("appTransactionID 704000000000000001", 2_304_402_314_923_660_073),
        ] as [(String, UInt64)])
    func `the hash that chooses a report's examples is the same on every machine`(text: String, hash: UInt64) {
        #expect(StableHash.of(text) == hash)
    }

    @Test func `a rehearsal of a file reports the lines that it has read, and then how many customers are decided`()
        async throws
    {
        let (lines, _) = try Corpora.lines(1000, seed: 3)
        let scratch = try ScratchFolder()
        let file = scratch.path + "/evidence.ndjson"
        try Data(Corpora.joined(lines)).write(to: URL(fileURLWithPath: file))
        var states: [EvidenceRehearsal.Progress] = []
        _ = try await Corpora.rehearsal().run(over: EvidenceSource(path: file), progress: { states.append($0) })
        let reading = states.prefix { !$0.isDeciding }
        let deciding = states.dropFirst(reading.count)
        #expect(reading.last?.lines == 1000 && reading.last?.share == 1)
        #expect(reading.map(\.lines) == reading.map(\.lines).sorted())
        #expect(!deciding.isEmpty && deciding.allSatisfy { $0.isDeciding && $0.lines == 1000 })
        let shares = deciding.compactMap(\.share)
        #expect(shares == shares.sorted() && shares.allSatisfy { $0 > 0 && $0 <= 1 })
    }

    @Test func `a damaged record is skipped, and the records after it are read`() throws {
        let good = Self.bytes(Self.entry([1], id: "ada"))
        // The first four bytes are the length of the rest. There is no kind of name with the number 9.
        let damaged: [[UInt8]] = [[3, 0, 0, 0, 0, 9, 0], [1, 0, 0, 0, 1], [0, 0, 0, 0]]
        for bad in damaged {
            var found: [String] = []
            let tail = good + bad + good + [5, 0, 0, 0, 1]
            try BucketContents(file: nil, tail: tail, isTaken: false).forEach { found.append(Self.words($0)) }
            #expect(found == Array(repeating: "appTransactionID 704é, ada, none, [1]", count: 2), "\(bad)")
        }
    }
}
