import Foundation
import StoreContract
import TenureCore
import TenureMint
import Testing

@testable import TenureStore

@Suite struct `updates in several transactions` {
    private struct Broken: Error {}

    private static let effort = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 1 : 20

    @Test(arguments: 1...6)
    func `an operation in several interrupted transactions leaves the same rows as in one transaction`(
        seed: Int
    ) async throws {
        try await withStores { pieces, whole in
            for round in 0..<Self.effort {
                var random = SeededRandom(seed: UInt64(seed + 1000 * round))
                for step in 0..<24 {
                    let now = Date(timeIntervalSince1970: 1_700_000_000 + Double(round * 100 + step) * 1000)
                    let operation = RandomOperation(number: step, using: &random)
                    var other = RandomOperation(number: step + 1000, using: &random)
                    while other.pair == operation.pair {
                        other = RandomOperation(number: step + 1000, using: &random)
                    }
                    try await other.perform(in: WholeStore(base: whole), at: now.addingTimeInterval(1))
                    try await operation.perform(in: WholeStore(base: whole), at: now)
                    try await perform(operation, beside: other, in: pieces, at: now, &random)
                    guard step % 6 == 5 else { continue }
                    let later = now.addingTimeInterval(2 * 86_400)
                    try await pieces.removeLeftovers(at: later)
                    for store in [pieces, whole] { try await store.removeOldTombstones(at: later) }
                    let (left, right) = (try await Lines(of: pieces), try await Lines(of: whole))
                    #expect(left.onlyHere(than: right) == [], "step \(step): after \(operation)")
                    #expect(right.onlyHere(than: left) == [], "step \(step): after \(operation)")
                }
            }
        }
    }

    /// Performs the operation, perhaps after interrupted attempts. The other operation runs once, between two pieces if
    /// possible.
    private func perform(
        _ operation: RandomOperation, beside other: RandomOperation, in store: Store, at now: Date,
        _ random: inout SeededRandom
    ) async throws {
        let counted = Store(CountedDatabase(store.database))
        let between = Int.random(in: 1...8, using: &random)
        let isOtherDone = Once()
        let performOther: @Sendable () async throws -> Void = {
            if await isOtherDone.first() { try await other.perform(in: store, at: now.addingTimeInterval(1)) }
        }
        var isDone = false
        for _ in 0..<Int.random(in: 0...2, using: &random) where !isDone {
            let broken = Int.random(in: 1...10, using: &random)
            counted.counts.reset { number in
                if number == broken { throw Broken() }
                if number == between { try await performOther() }
            }
            do {
                try await operation.perform(in: counted, at: now)
                isDone = true
            } catch StoreError.failed {}
        }
        counted.counts.reset { if $0 == between { try await performOther() } }
        if !isDone { try await operation.perform(in: counted, at: now) }
        counted.counts.reset()
        try await performOther()
    }

    private func withStores(_ body: (Store, Store) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tenure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pieces = try Store(SQLiteDatabase(path: folder.appending(path: "pieces.sqlite").path))
        let whole = try Store(SQLiteDatabase(path: folder.appending(path: "whole.sqlite").path))
        for store in [pieces, whole] {
            _ = try await store.write(at: Date(timeIntervalSince1970: 1_699_000_000), locking: [.policies]) {
                try $0.record(policy: [1], sha256: [1])
            }
            try await store.write(at: Date(timeIntervalSince1970: 1_699_000_000), locking: [.endpoints]) {
                try $0.register([Endpoint(name: "one"), Endpoint(name: "two")], comparisonKey: "a")
            }
        }
        try await body(pieces, whole)
        try await pieces.close()
        try await whole.close()
    }
}

/// A flag that is true for its first reader only.
private actor Once {
    private var isDone = false

    func first() -> Bool {
        defer { isDone = true }
        return !isDone
    }
}

/// All rows of a database, without random values and values that depend on the number of attempts.
private struct Lines {
    private var counts: [String: Int] = [:]

    init(of store: Store) async throws {
        let rows = try await store.database.read { session throws(StoreError) -> [String] in
            var rows: [String] = []
            try DatabaseWalk(session).eachEntry { entry throws(StoreError) in
                guard !["database", "progress"].contains(entry.table.name) else { return }
                var row = entry.table.name
                for (index, column) in entry.table.columns.enumerated() {
                    let isNumber = entry.table.isNumbered && entry.table.key == [index]
                    guard !isNumber,
                        !["update_id", "digest", "erased_at", "header"].contains(column.name)
                            || entry.table.name == "audit",
                        // These columns have random values, or numbers that depend on the number of attempts.
                        !["event", "message", "delivery"].contains(column.name),
                        (entry.table.name, column.name) != ("deliveries", "customer")
                    else { continue }
                    row += " \(column.name)=\(entry.values[index])"
                }
                rows.append(row)
            }
            return rows
        }
        // Public IDs begin with the time, followed by random characters.
        let pattern = /cus_[0-9A-Za-z]+/
        let ids = Set(rows.flatMap { row in row.matches(of: pattern).map { String($0.output) } }).sorted()
        let names = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, "customer \($0)") })
        for row in rows {
            counts[row.replacing(pattern) { names[String($0.output)] ?? "no customer" }, default: 0] += 1
        }
    }

    /// Returns up to ten lines that the other database doesn't have as often.
    func onlyHere(than other: Lines) -> [String] {
        Array(counts.filter { other.counts[$0.key] != $0.value }.map { "\($0.value)× \($0.key)" }.sorted().prefix(10))
    }
}
