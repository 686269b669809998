import Foundation
import PostgresServer
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenurePostgres
import TenureServer
import TenureStore

/// `scaling`: the time and space for customers while a database grows from ten thousand to a million, in SQLite and in
/// PostgreSQL.
///
/// Each customer syncs an app transaction and a purchase. At each size it prints, for the last customers: processor
/// time and bytes of a first sync, and processor time of a second one, which changes nothing. The ratio is a first sync
/// at the last size ÷ one at the first size. `TENURE_SCALING_CUSTOMERS` is the last size.
struct Scaling {
    static let name = "scaling"
    /// How many customers one measurement syncs.
    private static let batch = 4096
    private static let clients = 64

    private let benchmark: DatabaseBenchmark
    /// The kind of database: `sqlite` or `postgres`.
    private let kind: String
    /// Returns the process IDs of the database server; none for SQLite.
    private let server: () throws -> [Int32]
    /// Returns the size of the database in bytes.
    private let size: () async throws -> Int64
    /// Returns how many bytes were written: in SQLite to the disk by this process, in PostgreSQL to the write-ahead
    /// log.
    private let written: () async throws -> Int64
    /// Minters for many devices, because syncs from one device wait for each other.
    private let minters: [(device: UUID, minter: JWSMinter)]

    static func measure(_ fixtures: Fixtures) async throws {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-scaling"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/tenure.sqlite"
        var configuration = ServiceConfiguration(databasePath: path, policy: try Fixtures.policy())
        configuration.anchors = [.production: try fixtures.authority.anchors]
        let minters = (0..<10_000).map { _ in
            let device = UUID()
            return (
                device: device,
                minter: JWSMinter(
                    authority: fixtures.authority, app: MintedApp(deviceVerificationID: device), signedAt: fixtures.now)
            )
        }
        let last = ProcessInfo.processInfo.environment["TENURE_SCALING_CUSTOMERS"].flatMap { Int($0) } ?? 1_000_000

        let sqlite = try await DatabaseBenchmark(configuration: configuration)
        try await Scaling(
            benchmark: sqlite, kind: "sqlite", server: { [] },
            size: {
                try await sqlite.integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            },
            written: { Self.bytesWritten }, minters: minters
        ).measure(to: last)
        try await sqlite.close()

        let server = try PostgresServer(settings: ["max_wal_size": "4GB", "shared_buffers": "1GB"])
        let postgres = try await DatabaseBenchmark(
            configuration: configuration, store: Store(try await PostgresDatabase(PostgresAddress(server.url()))))
        try await Scaling(
            benchmark: postgres, kind: "postgres", server: { try server.processes() },
            size: { try await postgres.integer("SELECT pg_database_size(current_database())") },
            written: { try await postgres.integer("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint") },
            minters: minters
        ).measure(to: last)
        try await postgres.close()
    }

    private func measure(to last: Int) async throws {
        // The first syncs aren't measured, because they verify the signers' certificates and open connections.
        _ = try await sync(0..<Self.batch)
        let (firstSize, firstBytes) = (Self.batch, try await size())
        var count = Self.batch
        var costs: [Double] = []
        for next in [10_000, 100_000, 1_000_000, 10_000_000] where next <= last {
            while count + 2 * Self.batch <= next {
                _ = try await sync(count..<count + Self.batch)
                count += Self.batch
            }
            let (before, log) = (count, try await written())
            let first = try await sync(before..<before + Self.batch)
            let bytes = Double(try await written() - log) / Double(Self.batch)
            count += Self.batch
            let again = try await sync(before..<before + Self.batch)
            let stored = Double(try await size() - firstBytes) / Double(count - firstSize)
            costs.append(first.own + first.server)
            func report(_ line: String) { print("\(Self.name)-\(kind): at \(next) customers, \(line)") }
            report("a first sync takes \(format(first.own)) µs, and \(format(first.server)) of the database server")
            report("a second sync takes \(format(again.own)) µs, and \(format(again.server))")
            for (name, run) in [("first", first), ("second", again)] {
                report("\(Int(Double(Self.batch) / run.seconds)) \(name) syncs a second")
            }
            report("\(Int(bytes)) bytes written for a first sync, \(Int(stored)) stored for a customer")
        }
        guard let first = costs.first, let final = costs.last else { return }
        print("ratio \(Self.name)-\(kind) \(format(final / first)) <=1.5")
    }

    /// Syncs the customers with these numbers. Returns the processor time of this process and of the database server
    /// for each sync, in microseconds, and the wall time of all syncs, in seconds.
    private func sync(_ numbers: Range<Int>) async throws -> (own: Double, server: Double, seconds: Double) {
        let requests = try numbers.map { number in
            let id = String(704_000_000_000_000_000 + number)
            let (device, minter) = minters[number % minters.count]
            let appTransaction = try minter.mint(.appTransaction, setting: ["appTransactionId": .string(id)])
            let transaction = try minter.mint(
                .transaction,
                setting: [
                    "appTransactionId": .string(id), "transactionId": .string("1\(id)"),
                    "originalTransactionId": .string("1\(id)"),
                ])
            return SyncRequest(
                appTransaction: String(decoding: appTransaction, as: UTF8.self),
                transactions: [String(decoding: transaction, as: UTF8.self)],
                deviceVerificationID: device.uuidString)
        }
        let (own, others) = (processCPUTime(), try serverTime())
        let seconds = try await benchmark.seconds(toSync: requests, clients: Self.clients)
        let scale = 1e6 / Double(numbers.count)
        return ((processCPUTime() - own) * scale, (try serverTime() - others) * scale, seconds)
    }

    /// Returns the processor time of the database server in seconds, from Linux's `/proc`.
    private func serverTime() throws -> Double {
        var ticks = 0.0
        for process in try server() {
            // A server process may have ended.
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { continue }
            // The name, in parentheses, may have spaces. After it come the state and, as 11th and 12th further fields,
            // the times.
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12 else { continue }
            ticks += (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)
        }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The bytes that this process has written to disks, from Linux's `/proc`.
    private static var bytesWritten: Int64 {
        let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("write_bytes:") }
        return line?.split(separator: " ").last.flatMap { Int64($0) } ?? 0
    }
}
