import CalculatorSeller
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import LocalAppStore

private func withFile(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path + "/journal.sqlite")
}

private let header = JournalHeader(
    seed: "kept", now: Shop.date("2026-01-10T12:00:00Z"), apps: [Shop.app(url: "https://example.com/hook")])

private func open(_ file: String) throws -> LocalAppStore {
    let journal = try Journal(path: file, header: header)
    return LocalAppStore(
        try journal.state(), signer: Shop.signer, journal: journal,
        // The second notification fails at its first attempt.
        sender: { _, _, notification in
            notification.index == 1 && notification.attempts.isEmpty ? .noResponse : .success
        })
}

@Test func `a local App Store that is opened again continues as if it had never stopped`() async throws {
    let operations = [
        AppStoreOperation(.customer, [.customer: "Ada"]), AppStoreOperation(.acquire, [.customer: "Ada"]),
        AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.monthly]), AppStoreOperation(.advance, [.by: "30m"]),
        AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.everything]),
        AppStoreOperation(.advance, [.by: "31d"]),
        AppStoreOperation(.cancel, [.customer: "Ada", .product: Shop.monthly]),
        AppStoreOperation(.advance, [.by: "31d"]),
    ]
    try await withFile { file in
        let whole = LocalAppStore(
            header.state, signer: Shop.signer,
            sender: { _, _, it in it.index == 1 && it.attempts.isEmpty ? .noResponse : .success })
        for operation in operations { try await whole.perform(operation) }
        for operation in operations { try await open(file).perform(operation) }
        let kept = try await open(file).state
        let state = await whole.state
        #expect(kept.now == state.now)
        #expect(kept.transactions == state.transactions)
        #expect(kept.subscriptions == state.subscriptions)
        #expect(kept.notifications == state.notifications)
        #expect(state.notifications[1].attempts.map(\.result) == [.noResponse, .success])
        #expect(kept.outbox.isEmpty)
    }
}

@Test func `a local App Store's journal of a newer release, or with an impossible entry, is rejected`() async throws {
    try await withFile { file in
        try await open(file).perform(AppStoreOperation(.customer, [.customer: "Ada"]))
        let database = try SQLiteConnection(path: file, for: .writing)
        let add = "INSERT INTO journal (entry) VALUES ($1)"
        for (entry, complaint) in [
            (#"{"operation":"fly"}"#, "entry 3 can't be repeated (there is no operation `fly`"),
            (#"{"operation":"acquire","customer":"Eve"}"#, "entry 3 can't be repeated (there is no customer `Eve`"),
            (#"{"attempt":"SUCCESS","notification":7}"#, "entry 3 can't be repeated (it can't be read"),
            ("half of", "entry 3 can't be repeated (it can't be read"),
        ] {
            try database.execute(add, [.text(entry)])
            #expect { try open(file) } throws: { "\($0)".contains(complaint) }
            try database.execute("DELETE FROM journal WHERE id = 3")
        }
        #expect(try await open(file).state.accounts.map(\.name) == ["Ada"])
        try database.execute("PRAGMA user_version = 2")
        #expect { try open(file) } throws: { "\($0)".contains("`\(file)` was written by a newer release of Tenure") }
    }
}

@Test func `an impossible operation isn't stored in the local App Store's journal`() async throws {
    try await withFile { file in
        let store = try open(file)
        try await store.perform(AppStoreOperation(.customer, [.customer: "Ada"]))
        await #expect(throws: AppStoreStateError.noCustomer("Eve")) {
            try await store.perform(AppStoreOperation(.acquire, [.customer: "Eve"]))
        }
        await #expect(throws: OperationMistake.self) {
            try await store.perform([
                AppStoreOperation(.acquire, [.customer: "Ada"]), AppStoreOperation(.buy, [.customer: "Ada"]),
            ])
        }
        let kept = try await open(file).state
        #expect(kept.accounts.map(\.name) == ["Ada"])
        #expect(kept.acquisitions.count == 1)
    }
}

@Test func `operations that the local App Store's journal can't store change nothing`() async throws {
    try await withFile { file in
        let clock = Locked(Date.distantPast)
        let journal = try Journal(path: file, header: header)
        let store = LocalAppStore(
            try journal.state(), signer: Shop.signer, journal: journal, clock: { now in clock.withLock { $0 = now } },
            sender: { _, _, _ in .success })
        try await store.perform(AppStoreOperation(.customer, [.customer: "Ada"]))
        try await store.perform(AppStoreOperation(.advance, [.by: "1m"]))
        let before = await store.changedState
        let database = try SQLiteConnection(path: file, for: .writing)
        for event in ["INSERT", "UPDATE"] {
            try database.execute(
                "CREATE TRIGGER full_\(event) BEFORE \(event) ON journal BEGIN SELECT RAISE(ABORT, 'full'); END")
        }
        let buying = [
            AppStoreOperation(.acquire, [.customer: "Ada"]),
            AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.monthly]),
        ]
        for operations in [buying, [AppStoreOperation(.advance, [.by: "31d"])]] {
            await #expect(throws: JournalError.self) { try await store.perform(operations) }
            let after = await store.changedState
            #expect(after.state.acquisitions.isEmpty && after.state.transactions.isEmpty)
            #expect(after.state.notifications.isEmpty && after.state.now == before.state.now)
            #expect(clock.withLock { $0 } == before.state.now)
            #expect(after.change > before.change, "watchers read the state again")
        }
        for event in ["INSERT", "UPDATE"] { try database.execute("DROP TRIGGER full_\(event)") }
        // Later operations don't depend on the lost ones, and the file can be opened again.
        try await store.perform(buying)
        let (kept, state) = (try await open(file).state, await store.state)
        #expect(kept.transactions == state.transactions && kept.transactions.count == 1)
        #expect(kept.notifications == state.notifications && kept.now == state.now)
    }
}

@Test func `repeated advances of the clock use one entry in the local App Store's journal`() async throws {
    try await withFile { file in
        let store = try open(file)
        for _ in 0..<10 { try await store.perform(AppStoreOperation(.advance, [.by: "1m"])) }
        let journal = try SQLiteConnection(path: file, for: .reading)
        #expect(try journal.row("SELECT count(*) FROM journal")?.integer(0) == 2)
        #expect(try await open(file).state.now == Shop.date("2026-01-10T12:10:00Z"))
    }
}

@Test func `an advance of the clock replaces only an advance right before it in the local App Store's journal`()
    async throws
{
    try await withFile { file in
        let store = try open(file)
        let advance = AppStoreOperation(.advance, [.by: "1m"])
        for operation in [
            AppStoreOperation(.customer, [.customer: "Ada"]), advance, advance,
            AppStoreOperation(.customer, [.customer: "Byron"]), advance,
        ] { try await store.perform(operation) }
        let journal = try SQLiteConnection(path: file, for: .reading)
        #expect(try journal.row("SELECT count(*) FROM journal")?.integer(0) == 5)
        let kept = try await open(file).state
        #expect(kept.accounts.map(\.name) == ["Ada", "Byron"])
        #expect(kept.now == Shop.date("2026-01-10T12:03:00Z"))
    }
}

@Test func `a local App Store's journal keeps its first header, and can't be used without it or after its end`()
    async throws
{
    try await withFile { file in
        let journal = try Journal(path: file, header: header)
        journal.close()
        #expect {
            try journal.state()
        } throws: {
            "\($0)" == "the journal can't be used: `\(file)`: the database failed: it is closed; open the file again"
        }
        func noHeader() throws -> JournalHeader { throw NothingThere() }
        let again = try Journal(path: file, header: try noHeader())
        #expect(try again.state().seed == "kept")
        again.close()
        try SQLiteConnection(path: file, for: .writing).execute("DELETE FROM journal")
        #expect {
            try Journal(path: file, header: header).state()
        } throws: {
            "\($0)" == "the journal can't be used: `\(file)` doesn't begin with a header; use another file"
        }
    }
}

@Test func `a file that isn't a local App Store's journal is rejected with a reason`() async throws {
    try await withFile { file in
        try Data("this is no database, and much longer than its header".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: JournalError.self) { try Journal(path: file, header: header) }
    }
}

@Test func `the local App Store's control interface performs operations, but not for a page of another origin`()
    async throws
{
    let store = LocalAppStore(header.state, signer: Shop.signer, sender: { _, _, _ in .success })
    let application = await AppStoreServer(store: store, key: try ServerAPIKey(seed: "kept"), port: 0).application()
    try await application.test(.live) { client in
        func operation(_ body: String, type: String = "application/json") async throws -> (Int, String) {
            try await client.execute(
                uri: "/control/operations", method: .post, headers: [.contentType: type], body: ByteBuffer(string: body)
            ) { ($0.status.code, String(buffer: $0.body)) }
        }
        #expect(try await operation(#"{"operation":"customer","customer":"Ada"}"#).0 == 200)
        #expect(try await operation(#"[{"operation":"acquire","customer":"Ada","release":"120"}]"#).0 == 200)
        let bought = try await operation(
            #"{"operation":"buy","customer":"Ada","product":"com.example.calculator.monthly"}"#)
        #expect(bought.1.contains(#""type":"SUBSCRIBED","subtype":"INITIAL_BUY""#))
        #expect(
            try await operation(#"{"operation":"acquire","customer":"Eve"}"#) == (
                409, #"{"error":"there is no customer `Eve`; create the customer with the operation `customer`"}"#
            ))
        #expect(
            try await operation(#"{"operation":"buy","customer":"Ada"}"#) == (
                400, #"{"error":"`buy` needs `product`"}"#
            ))
        #expect(try await operation(#"{"operation":"fly"}"#).0 == 400)
        #expect(try await operation("{").0 == 400)
        // A browser sends these without a permission of the server.
        for type in [
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
            "text/plain; application/json",
        ] {
            #expect(try await operation(#"{"operation":"customer","customer":"Eve"}"#, type: type).0 == 415, "\(type)")
        }
        // Before it sends JSON, a browser asks for the permission, and gets none.
        let permission = try await client.execute(
            uri: "/control/operations", method: .options, headers: [.origin: "https://example.com"]
        ) { $0.headers[.accessControlAllowOrigin] }
        #expect(permission == nil)
        #expect(await store.state.accounts.map(\.name) == ["Ada"])
        let device = try await client.execute(uri: "/control/customers/Ada", method: .get) { String(buffer: $0.body) }
        guard case .object(let object) = try JSONValue(parsing: Array(device.utf8)) else { throw NothingThere() }
        let jws = Array(try #require(object.text("appTransaction")).utf8)
        #expect(try Shop.verifier.verifyAppTransaction(jws, now: nil).payload.originalApplicationVersion == "120")
        #expect(object.texts("transactions").count == 1)
    }
    try await application.test(.router) { client in
        let status = try await client.execute(
            uri: "/control/state", method: .get, headers: [:]
        ) { $0.status }
        #expect(status == .ok)
    }
}

@Test func `operations of a list are stored together in the local App Store's journal, or not at all`()
    async throws
{
    try await withFile { file in
        let store = try open(file)
        try await store.perform(AppStoreOperation(.customer, [.customer: "Ada"]))
        let database = try SQLiteConnection(path: file, for: .writing)
        // The second of the two operations can't be stored.
        try database.execute(
            """
            CREATE TRIGGER no_purchases BEFORE INSERT ON journal WHEN NEW.entry LIKE '%"buy"%'
            BEGIN SELECT RAISE(ABORT, 'full'); END
            """)
        await #expect(throws: JournalError.self) {
            try await store.perform([
                AppStoreOperation(.acquire, [.customer: "Ada"]),
                AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins]),
            ])
        }
        #expect(try database.row("SELECT count(*) FROM journal")?.integer(0) == 2)
        #expect(await store.state.acquisitions.isEmpty)
        #expect(try await open(file).state.acquisitions.isEmpty)
    }
}

@Test func `other clocks have the local App Store's time from the beginning, and before each notification`()
    async throws
{
    let clock = Locked(Date.distantPast)
    let sent = Locked<[Date]>([])
    var state = Shop.state(at: "2026-01-10T12:00:00Z", url: "https://example.com/hook")
    for name in ["Ada", "Byron"] {
        try state.addCustomer(name)
        try state.acquire(name)
    }
    let store = LocalAppStore(
        state, signer: Shop.signer, clock: { now in clock.withLock { $0 = now } },
        sender: { _, _, _ in
            let now = clock.withLock { $0 }
            sent.withLock { $0.append(now) }
            return .success
        })
    #expect(clock.withLock { $0 } == Shop.date("2026-01-10T12:00:00Z"))
    try await store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.monthly]))
    try await store.perform(AppStoreOperation(.advance, [.by: "1h"]))
    try await store.perform(AppStoreOperation(.buy, [.customer: "Byron", .product: Shop.monthly]))
    try await store.perform(AppStoreOperation(.advance, [.to: "2026-01-20"]))
    #expect(clock.withLock { $0 } == Shop.date("2026-01-20"))
    // Both trials end after a week, and each renewal is charged 33 seconds earlier.
    let dates = ["2026-01-10T12:00:00Z", "2026-01-10T13:00:00Z", "2026-01-17T11:59:27Z", "2026-01-17T12:59:27Z"]
    #expect(sent.withLock { $0 } == dates.map(Shop.date))
    #expect(await store.state.notifications.map(\.date) == dates.map(Shop.date))
}

/// Runs only in `make soak`.
@Test(.enabled(if: ProcessInfo.processInfo.environment["TENURE_SOAK"] != nil))
func `a local App Store can have a hundred thousand customers`() async throws {
    try await withFile { file in
        let journal = try Journal(
            path: file, header: JournalHeader(seed: "many", now: Shop.date("2026-01-10"), apps: [Shop.app()]))
        let store = LocalAppStore(
            try journal.state(), signer: Shop.signer, journal: journal, sender: { _, _, _ in .success })
        var operations: [AppStoreOperation] = []
        for number in 0..<100_000 {
            let name = "customer \(number)"
            operations.append(AppStoreOperation(.customer, [.customer: name]))
            operations.append(AppStoreOperation(.acquire, [.customer: name]))
            if number % 4 == 0 {
                operations.append(AppStoreOperation(.buy, [.customer: name, .product: Shop.monthly]))
            }
            if number % 100 == 99 { operations.append(AppStoreOperation(.advance, [.by: "1h"])) }
        }
        let clock = ContinuousClock()
        let building = try await clock.measure { try await store.perform(operations) }
        let state = await store.state
        #expect(state.accounts.count == 100_000)
        #expect(state.subscriptions.count == 25_000)
        var again: AppStoreState?
        let opening = try clock.measure { again = try Journal(path: file, header: header).state() }
        #expect(again?.transactions == state.transactions)
        print("100,000 customers: built in \(building), opened again in \(opening)")
    }
}
