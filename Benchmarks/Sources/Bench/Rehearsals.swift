import Crypto
import Foundation
import GRDBSQLite
import TenureMint
@_spi(Benchmarks) import TenureServer

/// What a rehearsal costs, by the clock and on all cores, as whoever waits for it sees it.
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

    /// 100,000 different app transactions of one signer, a line each, against as many bare verifications.
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
        var ratios: [Double] = []
        _ = try await benchmark.verify(lines)
        for _ in 0..<5 {
            let floor = try await seconds { try await verifyAll(bare) }
            let ours = try await seconds {
                guard try await benchmark.verify(lines) == count else { throw CocoaError(.coderInvalidValue) }
            }
            ratios.append(ours / floor)
            print("rehearse-verify: \(Int(Double(count) / ours)) lines/s, floor \(Int(Double(count) / floor))/s")
        }
        print("ratio rehearse-verify \(format(ratios.median)) <=1.08")
    }

    private static func verifyAll(_ all: [SignedBytes]) async throws {
        await withTaskGroup(of: Void.self) { group in
            // As many at once as ours has under way.
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

    /// A million recorded customers, against reading the same columns of the same rows and nothing else.
    private static func redecide(_ benchmark: RehearsalBenchmark) async throws {
        let count = 1_000_000
        let path = try await record(of: count, benchmark)
        var ratios: [Double] = []
        _ = try await benchmark.redecide(recordAt: path)
        for _ in 0..<5 {
            let floor = try await seconds { try scan(path) }
            let ours = try await seconds { _ = try await benchmark.redecide(recordAt: path) }
            ratios.append(ours / floor)
            print(
                "rehearse-redecide: \(Int(Double(count) / ours)) customers/s, bare scan \(Int(Double(count) / floor)) rows/s"
            )
        }
        print("ratio rehearse-redecide \(format(ratios.median)) <=2.5")
    }

    /// What a customer costs among ten million, against ten thousand.
    private static func growth(_ benchmark: RehearsalBenchmark) async throws {
        let (few, many) = (10_000, 10_000_000)
        let (small, large) = (try await record(of: few, benchmark), try await record(of: many, benchmark))
        var ratios: [Double] = []
        _ = try await benchmark.redecide(recordAt: large)
        for _ in 0..<3 {
            let ofFew =
                try await seconds {
                    for _ in 0..<50 { _ = try await benchmark.redecide(recordAt: small) }
                } / 50 / Double(few)
            let ofMany = try await seconds { _ = try await benchmark.redecide(recordAt: large) } / Double(many)
            ratios.append(ofMany / ofFew)
            print("rehearse-growth: \(format(ofFew * 1e6)) µs a customer of few, \(format(ofMany * 1e6)) of many")
        }
        print("ratio rehearse-growth \(format(ratios.median)) <=1.2")
    }

    private static func record(of count: Int, _ benchmark: RehearsalBenchmark) async throws -> String {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-rehearsal"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/\(count).sqlite"
        print("a record of \(count) customers at \(path); filling it takes a while the first time")
        try await benchmark.fill(recordAt: path, to: count)
        return path
    }

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
        else { throw CocoaError(.fileReadUnknown) }
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

    private static func seconds(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await work()
        return (ContinuousClock.now - start) / .seconds(1)
    }
}
