import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureServer

/// `large-sync`: a customer grows to 20,000 purchases by syncs of eight receipts with 2,500 purchases each, in SQLite
/// and in PostgreSQL.
///
/// Three ratios for each:
/// - the time for a new purchase, on average over all receipts against that in the first receipt
/// - the longest sync of other customers while this one grows, against an ordinary sync when nothing else runs
/// - the same while support grants and revokes an entitlement of this customer, and erases them
enum LargeSyncs {
    static let name = "large-sync"
    private static let receiptCount = 8
    private static let purchasesPerReceipt = 2500
    private static let rounds = 3

    static func measure(_ fixtures: Fixtures) async throws {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-large-sync"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var configuration = ServiceConfiguration(
            databasePath: folder + "/tenure.sqlite", policy: try Fixtures.policy())
        configuration.anchors = [.production: try fixtures.authority.anchors]
        let sqlite = try await DatabaseBenchmark(configuration: configuration)
        try await measure(sqlite, fixtures, named: name)
        try await sqlite.close()
        let postgres = try await PostgresSyncs(configuration: configuration)
        try await measure(postgres.benchmark, fixtures, named: "\(name)-postgres")
        try await postgres.benchmark.close()
    }

    private static func measure(_ syncs: DatabaseBenchmark, _ fixtures: Fixtures, named name: String) async throws {
        let customers = Customers(fixtures)
        // The first sync isn't measured, because it verifies the signers' certificates.
        _ = try await grow(customers.next(), in: syncs, receipts: 2)
        var growths: [Double] = []
        for _ in 0..<rounds {
            let seconds = try await grow(customers.next(), in: syncs)
            let perPurchase = seconds.map { $0 / Double(purchasesPerReceipt) * 1e6 }
            growths.append(perPurchase.reduce(0, +) / Double(receiptCount) / perPurchase[0])
            let times = perPurchase.map(format).joined(separator: ", ")
            print("\(name): µs for each new purchase, receipt by receipt: \(times)")
        }
        print("ratio \(name)-growth \(format(growths.median)) <=1.5")

        var alone: [Double] = []
        for _ in 0..<100 { alone.append(try await customers.next().ordinarySync(in: syncs)) }
        print(
            "\(name): an ordinary sync takes \(format(alone.median * 1e3)) ms, the longest \(format((alone.max() ?? 0) * 1e3))"
        )
        var waits: [Double] = []
        var waitsForSupport: [Double] = []
        for _ in 0..<rounds {
            let large = try customers.next()
            waits.append(
                try await longest(during: "growth", beside: customers, in: syncs, named: name) {
                    _ = try await grow(large, in: syncs)
                } / alone.median)
            waitsForSupport.append(
                try await longest(during: "support and erasure", beside: customers, in: syncs, named: name) {
                    try await syncs.grantRevokeAndErase(appTransactionID: large.id)
                } / alone.median)
        }
        print("ratio \(name)-wait \(format(waits.median)) <=20")
        print("ratio \(name)-wait-support \(format(waitsForSupport.median)) <=20")
    }

    /// Returns the seconds of the longest ordinary sync of other customers while `body` runs.
    private static func longest(
        during what: String, beside customers: Customers, in syncs: DatabaseBenchmark, named name: String,
        _ body: () async throws -> Void
    ) async throws -> Double {
        let others = Others(customers, in: syncs)
        let task = Task { try await others.run() }
        let elapsed = try await ContinuousClock().measure(body)
        await others.stop()
        let times = try await task.value
        let longest = times.max() ?? 0
        print(
            """
            \(name): during \(what), which took \(elapsed): \(times.count) ordinary syncs, \
            median \(format(times.median * 1e3)) ms, longest \(format(longest * 1e3)) ms
            """)
        return longest
    }

    /// Syncs a customer's receipts, one after the other. Returns the seconds that each sync took.
    private static func grow(
        _ customer: Customer, in syncs: DatabaseBenchmark, receipts: Int = receiptCount
    ) async throws -> [Double] {
        var seconds: [Double] = []
        for number in 0..<receipts {
            let receipt = try customer.receipt(of: purchasesPerReceipt, from: number * purchasesPerReceipt)
            seconds.append(
                try await syncs.seconds(
                    toSync: customer.appTransaction, receipt: receipt, from: MintedApp.device,
                    purchases: (number + 1) * purchasesPerReceipt))
        }
        return seconds
    }

    /// Syncs other customers, one after the other, until it is stopped.
    private actor Others {
        private let customers: Customers
        private let syncs: DatabaseBenchmark
        private var isStopped = false

        init(_ customers: Customers, in syncs: DatabaseBenchmark) {
            self.customers = customers
            self.syncs = syncs
        }

        func stop() { isStopped = true }

        func run() async throws -> [Double] {
            var seconds: [Double] = []
            while !isStopped { seconds.append(try await customers.next().ordinarySync(in: syncs)) }
            return seconds
        }
    }

    /// An endless series of invented customers.
    private final class Customers: Sendable {
        private let count = Locked(0)
        private let fixtures: Fixtures

        init(_ fixtures: Fixtures) { self.fixtures = fixtures }

        func next() throws -> Customer {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return try Customer(number, fixtures)
        }
    }

    private struct Customer: Sendable {
        let id: String
        let appTransaction: [UInt8]
        private let transaction: [UInt8]
        private let number: Int
        private let minter: ReceiptMinter

        init(_ number: Int, _ fixtures: Fixtures) throws {
            self.number = number
            minter = ReceiptMinter(authority: fixtures.authority, signedAt: fixtures.now)
            let signer = JWSMinter(authority: fixtures.authority, signedAt: fixtures.now)
            id = String(704_000_000_000_000_000 + number)
            appTransaction = try signer.mint(.appTransaction, setting: ["appTransactionId": .string(id)])
            transaction = try signer.mint(
                .transaction,
                setting: [
                    "appTransactionId": .string(id), "transactionId": .string("1\(id)"),
                    "originalTransactionId": .string("1\(id)"),
                ])
        }

        /// Syncs the app transaction and one purchase. Returns the seconds that it took.
        func ordinarySync(in syncs: DatabaseBenchmark) async throws -> Double {
            try await syncs.seconds(
                toSync: appTransaction, transactions: [transaction], from: MintedApp.device, purchases: 1)
        }

        /// Mints a receipt of `count` purchases, the first of which is the customer's purchase number `first`.
        func receipt(of count: Int, from first: Int) throws -> [UInt8] {
            try minter.mint { draft in
                draft[Attribute.downloadID] = .number(UInt64(700_000_000_000_000 + number))
                guard let purchase = draft.purchases.first else { return }
                draft.purchases = (first..<first + count).map { index in
                    let id = number * 100_000 + index
                    var purchase = purchase
                    purchase[Attribute.transactionID] = .text(String(500_000_000_000_000 + id))
                    purchase[Attribute.originalTransactionID] = .text(String(500_000_000_000_000 + id))
                    purchase[Attribute.orderID] = .number(UInt64(600_000_000_000_000 + id))
                    return purchase
                }
            }
        }
    }

    /// Numbers of attributes of a receipt, as Apple gives them.
    private enum Attribute {
        static let downloadID: UInt64 = 15
        static let transactionID: UInt64 = 1703
        static let originalTransactionID: UInt64 = 1705
        static let orderID: UInt64 = 1711
    }
}
