import CSQLite
import Crypto
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// `rehearse-verify`, `rehearse-redecide` and `rehearse-growth`: the wall time of a rehearsal on all cores. The
/// processor time of the whole process is printed too, because other load on the machine changes it less.
enum Rehearsals {
    static let names = ["rehearse-verify", "rehearse-redecide", "rehearse-growth"]

    static func measure(_ name: String, _ fixtures: Fixtures) async throws {
        let benchmark = RehearsalBenchmark(
            policy: try Fixtures.policy(), anchors: try fixtures.authority.anchors, now: fixtures.now)
        switch name {
        case "rehearse-verify": try await verify(benchmark, fixtures)
        case "rehearse-redecide": try await redecide(benchmark)
        default: try await growth(benchmark)
        }
    }

    /// Reading and verifying 100,000 app transactions of one signer, one in each line, against as many bare
    /// verifications.
    private static func verify(_ benchmark: RehearsalBenchmark, _ fixtures: Fixtures) async throws {
        let count = 100_000
        let minter = JWSMinter(authority: fixtures.authority, signedAt: fixtures.now)
        var lines: [UInt8] = []
        var bare: [SignedBytes] = []
        let key = try SignedBytes(jws: minter.mint(.appTransaction)).key
        for number in 0..<count {
            let jws = try minter.mint(
                .appTransaction, setting: ["appTransactionId": .string(String(704_000_000_000_000_000 + number))])
            lines += jws
            lines.append(0x0A)
            bare.append(try SignedBytes(jws: jws, signedBy: key))
        }
        _ = try await benchmark.verify(lines)
        try await compare(
            "rehearse-verify", "<=1.08", of: count, floor: { try await verifyAll(bare) },
            ours: {
                let usable = try await benchmark.verify(lines)
                guard usable == count else { throw BenchmarkFailure("\(usable) of \(count) lines are usable") }
            })
    }

    private static func verifyAll(_ all: [SignedBytes]) async throws {
        await withTaskGroup(of: Void.self) { group in
            // A rehearsal verifies two batches for each core at once. A batch of 256 KB has about 180 of these lines.
            var next = 0
            func add() {
                let range = next..<min(next + 180, all.count)
                next = range.upperBound
                group.addTask { for index in range { all[index].hashAndVerify() } }
            }
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 where next < all.count { add() }
            while await group.next() != nil { if next < all.count { add() } }
        }
    }

    /// Deciding a million stored customers again, against only reading the same columns of the same rows.
    private static func redecide(_ benchmark: RehearsalBenchmark) async throws {
        let count = 1_000_000
        let path = try await database(of: count, benchmark)
        _ = try await benchmark.redecide(databaseAt: path)
        // The floor reads with one connection, as a scan does; ours with one for each core.
        try await compare(
            "rehearse-redecide", "<=2.5", of: count, floor: { try scan(path) },
            ours: { _ = try await benchmark.redecide(databaseAt: path) })
    }

    /// Measures floor and work in turn, and prints the median of the ratios. `count` is the number of customers or
    /// lines.
    private static func compare(
        _ name: String, _ goal: String, of count: Int, floor: () async throws -> Void, ours: () async throws -> Void
    ) async throws {
        var ratios: [Double] = []
        var works: [Spent] = []
        var floors: [Spent] = []
        for _ in 0..<7 {
            floors.append(try await spent(floor))
            works.append(try await spent(ours))
            guard let work = works.last, let floor = floors.last else { continue }
            ratios.append(work.seconds / floor.seconds)
            print("\(name): \(Int(Double(count) / work.seconds))/s, floor \(Int(Double(count) / floor.seconds))/s")
        }
        func micros(_ all: [Spent]) -> Double { all.map(\.processor).median / Double(count) * 1e6 }
        print("\(name): processor time \(format(micros(works))) µs each, floor \(format(micros(floors))) µs")
        print("ratio \(name) \(format(ratios.median)) \(goal)")
    }

    /// The time for each customer in a database of ten million, against that in one of ten thousand.
    private static func growth(_ benchmark: RehearsalBenchmark) async throws {
        let (few, some, many) = (10_000, 1_000_000, 10_000_000)
        let small = try await database(of: few, benchmark)
        let base = try await database(of: some, benchmark)
        let large = base.replacingOccurrences(of: "\(some).sqlite", with: "\(many).sqlite")
        try DatabaseOfMany.make(at: large, of: many, from: base, of: some)
        defer { try? FileManager.default.removeItem(atPath: large) }
        var ratios: [Double] = []
        _ = try await benchmark.redecide(databaseAt: large)
        for _ in 0..<3 {
            let repetitions = 50
            let ofFew = try await spent {
                for _ in 0..<repetitions { _ = try await benchmark.redecide(databaseAt: small) }
            }
            let ofMany = try await spent {
                let customers = try await benchmark.redecide(databaseAt: large)
                guard customers == many else {
                    throw BenchmarkFailure("`\(large)` has \(customers) customers instead of \(many)")
                }
            }
            let each = (few: Double(few * repetitions) / 1e6, many: Double(many) / 1e6)
            ratios.append((ofMany.seconds / each.many) / (ofFew.seconds / each.few))
            print(
                """
                rehearse-growth: \(format(ofFew.seconds / each.few)) µs a customer of few, \
                \(format(ofMany.seconds / each.many)) of many; processor time \
                \(format(ofFew.processor / each.few)) and \(format(ofMany.processor / each.many)) µs
                """)
        }
        print("ratio rehearse-growth \(format(ratios.median)) <=1.2")
    }

    private static func database(of count: Int, _ benchmark: RehearsalBenchmark) async throws -> String {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-rehearsal"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/\(count).sqlite"
        print("a database of \(count) customers at \(path); filling it takes a while the first time")
        try await benchmark.fill(databaseAt: path, to: count)
        return path
    }

    /// Reads the columns that a rehearsal reads, and decodes nothing.
    private static func scan(_ path: String) throws {
        var connection: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close_v2(connection)
        }
        let sql = "SELECT realm, public_id, facts FROM customers WHERE merged_into IS NULL ORDER BY id"
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
            sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK
        else { throw BenchmarkFailure("SQLite can't read the customers in `\(path)`") }
        var sum: Int64 = 0
        while sqlite3_step(statement) == SQLITE_ROW {
            sum &+= sqlite3_column_int64(statement, 0)
            if let text = sqlite3_column_text(statement, 1) { sum &+= Int64(text[0]) }
            if let blob = sqlite3_column_blob(statement, 2) {
                let bytes = UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(statement, 2)))
                sum &+= Int64(bytes.last ?? 0)
            }
        }
        keep(sum)
    }

    private struct Spent {
        /// The wall time in seconds.
        let seconds: Double
        /// The processor time of all threads of the process, in seconds.
        let processor: Double
    }

    private static func spent(_ work: () async throws -> Void) async throws -> Spent {
        let (start, before) = (ContinuousClock.now, processCPUTime())
        try await work()
        return Spent(seconds: (ContinuousClock.now - start).seconds, processor: processCPUTime() - before)
    }
}
