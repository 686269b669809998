import CSQLite
import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureServer

/// `durable-syncs`: syncs per second of 64 clients, against bare INSERTs of the same bytes on the same disk, 64 in each
/// transaction. Each sync is acknowledged after its flush.
///
/// The time for verifying the artifacts is subtracted, because INSERTs verify nothing: the wall time that 64 clients
/// need only for verifying. The processor time of all cores is longer, and subtracting it would make the ratio look
/// better. So the ratio with the processor time is only printed.
enum DurableSyncs {
    static let name = "durable-syncs"
    private static let count = 4096
    private static let clients = 64

    static func measure(_ fixtures: Fixtures) async throws {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-syncs"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let device = UUID()
        let minter = JWSMinter(
            authority: fixtures.authority, app: MintedApp(deviceVerificationID: device), signedAt: fixtures.now)
        let rounds = 5
        let artifacts = try (0..<count * rounds).map { number in
            try minter.mint(
                .appTransaction, setting: ["appTransactionId": .string(String(704_000_000_000_000_000 + number))])
        }
        var configuration = ServiceConfiguration(
            databasePath: folder + "/tenure.sqlite", policy: try Fixtures.policy())
        configuration.anchors = [.production: try fixtures.authority.anchors]
        let benchmark = try await DatabaseBenchmark(configuration: configuration)
        let floor = try BareInserts(path: folder + "/floor.sqlite")
        _ = try await benchmark.seconds(toVerify: Array(artifacts.prefix(200)), clients: clients)
        var ratios: [Double] = []
        var ratiosByProcessorTime: [Double] = []
        for round in 0..<rounds {
            let batch = Array(artifacts[round * count..<(round + 1) * count])
            var cpu = [processCPUTime()]
            let bare = try floor.seconds(toInsert: batch, groupsOf: clients)
            cpu.append(processCPUTime())
            let verifying = try await benchmark.seconds(toVerify: batch, clients: clients)
            cpu.append(processCPUTime())
            let flushes = benchmark.flushes
            let requests = batch.map {
                SyncRequest(
                    appTransaction: String(decoding: $0, as: UTF8.self), deviceVerificationID: device.uuidString)
            }
            let syncing = try await benchmark.seconds(toSync: requests, clients: clients)
            cpu.append(processCPUTime())
            let costs = zip(cpu, cpu.dropFirst()).map { ($1 - $0) / Double(count) * 1e6 }
            ratios.append(bare / max(syncing - verifying, 1e-9))
            // On many cores, the processor time may be longer than the wall time.
            let rest = syncing - (cpu[2] - cpu[1])
            if rest > 0 { ratiosByProcessorTime.append(bare / rest) }
            print(
                """
                \(name): \(Int(Double(count) / syncing)) syncs/s, \(Int(Double(count) / (syncing - verifying))) without \
                verification, \(Int(Double(count) / bare)) bare INSERTs/s; CPU \(format(costs[2])) µs a sync, of which \
                verification \(format(costs[1])), an INSERT \(format(costs[0])); \
                \(format(Double(count) / Double(benchmark.flushes - flushes))) syncs a flush
                """)
        }
        try await benchmark.close()
        print(
            """
            \(name): ratio with the processor time of verification subtracted, instead of its wall time: \
            \(ratiosByProcessorTime.isEmpty ? "none, because no time is left" : format(ratiosByProcessorTime.median))
            """)
        print("ratio \(name) \(format(ratios.median)) >=0.5")
    }
}

/// INSERTs of artifacts into a table with one column. They are flushed as in the service's database: SQLite with a
/// write-ahead log and full synchronization.
private final class BareInserts {
    private var connection: OpaquePointer?
    private var statement: OpaquePointer?

    init(path: String) throws {
        guard sqlite3_open(path, &connection) == SQLITE_OK else { throw failure }
        try run("PRAGMA journal_mode = WAL")
        try run("PRAGMA synchronous = FULL")
        try run("CREATE TABLE artifacts (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        guard
            sqlite3_prepare_v2(connection, "INSERT INTO artifacts (bytes) VALUES (?)", -1, &statement, nil) == SQLITE_OK
        else { throw failure }
    }

    deinit {
        sqlite3_finalize(statement)
        sqlite3_close(connection)
    }

    /// Returns the seconds that the INSERTs take, `size` in each transaction.
    func seconds(toInsert artifacts: [[UInt8]], groupsOf size: Int) throws -> Double {
        try ContinuousClock().measure {
            for start in stride(from: 0, to: artifacts.count, by: size) {
                try run("BEGIN IMMEDIATE")
                for artifact in artifacts[start..<min(start + size, artifacts.count)] {
                    let result = artifact.withUnsafeBytes { bytes in
                        sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
                        return sqlite3_step(statement)
                    }
                    guard result == SQLITE_DONE else { throw failure }
                    sqlite3_reset(statement)
                }
                try run("COMMIT")
            }
        }.seconds
    }

    private func run(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    private var failure: BenchmarkFailure { BenchmarkFailure("SQLite: \(String(cString: sqlite3_errmsg(connection)))") }
}
