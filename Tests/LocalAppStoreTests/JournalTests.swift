import CalculatorSeller
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import LocalAppStore
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

private func withFile(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path + "/world.sqlite")
}

private let founding = Founding(
    seed: "kept", now: Shop.date("2026-01-10T12:00:00Z"), apps: [Shop.app(url: "https://example.com/hook")])

private func open(_ file: String) throws -> LocalAppStore {
    try LocalAppStore(
        try Journal(path: file, founding: founding), signer: Shop.signer,
        // The second notification fails once.
        courier: { _, _, notification in
            notification.index == 1 && notification.attempts.isEmpty ? .noResponse : .success
        })
}

@Test func `a world that was kept goes on as if it had never stopped`() async throws {
    let acts = [
        Act(.customer, [.customer: "Ada"]), Act(.acquire, [.customer: "Ada"]),
        Act(.buy, [.customer: "Ada", .product: Shop.monthly]), Act(.advance, [.by: "30m"]),
        Act(.buy, [.customer: "Ada", .product: Shop.everything]), Act(.advance, [.by: "31d"]),
        Act(.cancel, [.customer: "Ada", .product: Shop.monthly]), Act(.advance, [.by: "31d"]),
    ]
    try await withFile { file in
        let whole = LocalAppStore(
            founding.world, signer: Shop.signer,
            courier: { _, _, it in it.index == 1 && it.attempts.isEmpty ? .noResponse : .success })
        for act in acts { try await whole.perform(act) }
        for act in acts { try await open(file).perform(act) }
        let kept = try await open(file).world
        let world = await whole.world
        #expect(kept.now == world.now)
        #expect(kept.transactions == world.transactions)
        #expect(kept.subscriptions == world.subscriptions)
        #expect(kept.notifications == world.notifications)
        #expect(world.notifications[1].attempts.map(\.result) == [.noResponse, .success])
        #expect(kept.outbox.isEmpty)
    }
}

@Test func `a world of a newer release, or with an entry that cannot be, is not gone on with`() async throws {
    try await withFile { file in
        try await open(file).perform(Act(.customer, [.customer: "Ada"]))
        let database = try DatabaseQueue(path: file)
        let add = "INSERT INTO journal (entry) VALUES (?)"
        for (entry, complaint) in [
            (#"{"act":"fly"}"#, "entry 3 can't be repeated (there is no operation `fly`"),
            (#"{"act":"acquire","customer":"Eve"}"#, "entry 3 can't be repeated (there is no customer `Eve`"),
            (#"{"attempt":"SUCCESS","notification":7}"#, "entry 3 can't be repeated (it can't be read"),
            ("half of", "entry 3 can't be repeated (it can't be read"),
        ] {
            try await database.write { try $0.execute(sql: add, arguments: [entry]) }
            #expect { try open(file) } throws: { "\($0)".contains(complaint) }
            try await database.write { try $0.execute(sql: "DELETE FROM journal WHERE id = 3") }
        }
        #expect(try await open(file).world.accounts.map(\.name) == ["Ada"])
        try await database.write { try $0.execute(sql: "PRAGMA user_version = 2") }
        #expect { try open(file) } throws: { "\($0)".contains("`\(file)` was written by a newer release of Tenure") }
    }
}

@Test func `what could not happen is not kept`() async throws {
    try await withFile { file in
        let store = try open(file)
        try await store.perform(Act(.customer, [.customer: "Ada"]))
        await #expect(throws: WorldError.noCustomer("Eve")) {
            try await store.perform(Act(.acquire, [.customer: "Eve"]))
        }
        await #expect(throws: ActMistake.self) {
            try await store.perform([Act(.acquire, [.customer: "Ada"]), Act(.buy, [.customer: "Ada"])])
        }
        let kept = try await open(file).world
        #expect(kept.accounts.map(\.name) == ["Ada"])
        #expect(kept.acquisitions.count == 1)
    }
}

@Test func `a clock that runs does not fill the journal`() async throws {
    try await withFile { file in
        let store = try open(file)
        for _ in 0..<10 { try await store.perform(Act(.advance, [.by: "1m"])) }
        #expect(try Journal(path: file, founding: founding).count == 2)
        #expect(try await open(file).world.now == Shop.date("2026-01-10T12:10:00Z"))
    }
}

@Test func `a file that holds no world is refused with a reason`() async throws {
    try await withFile { file in
        try Data("this is no database, and much longer than its header".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: JournalError.self) { try Journal(path: file, founding: founding) }
    }
}

@Test func `the control interface lets acts happen, and refuses pages of other origins`() async throws {
    let store = LocalAppStore(founding.world, signer: Shop.signer, courier: { _, _, _ in .success })
    let application = await StoreServer(store: store, key: try ServerAPIKey(seed: "kept"), port: 0).application()
    try await application.test(.live) { client in
        func act(_ body: String, type: String = "application/json") async throws -> (Int, String) {
            try await client.execute(
                uri: "/control/acts", method: .post, headers: [.contentType: type], body: ByteBuffer(string: body)
            ) { ($0.status.code, String(buffer: $0.body)) }
        }
        #expect(try await act(#"{"act":"customer","customer":"Ada"}"#).0 == 200)
        #expect(try await act(#"[{"act":"acquire","customer":"Ada","release":"120"}]"#).0 == 200)
        let bought = try await act(#"{"act":"buy","customer":"Ada","product":"com.example.calculator.monthly"}"#)
        #expect(bought.1.contains(#""type":"SUBSCRIBED","subtype":"INITIAL_BUY""#))
        #expect(
            try await act(#"{"act":"acquire","customer":"Eve"}"#) == (
                409, #"{"error":"there is no customer `Eve`; add one first"}"#
            ))
        #expect(try await act(#"{"act":"buy","customer":"Ada"}"#) == (400, #"{"error":"`buy` needs `product`"}"#))
        #expect(try await act(#"{"act":"fly"}"#).0 == 400)
        #expect(try await act("{").0 == 400)
        #expect(try await act("{}", type: "text/plain").0 == 415)
        let device = try await client.execute(uri: "/control/customers/Ada", method: .get) { String(buffer: $0.body) }
        guard case .object(let object) = try JSONValue(parsing: Array(device.utf8)) else { throw NothingThere() }
        let jws = Array(try #require(object.text("appTransaction")).utf8)
        #expect(try Shop.verifier.verifyAppTransaction(jws, now: nil).payload.originalApplicationVersion == "120")
        #expect(object.texts("transactions").count == 1)
    }
    try await application.test(.router) { client in
        let status = try await client.execute(
            uri: "/control/world", method: .get, headers: [:]
        ) { $0.status }
        #expect(status == .ok)
    }
}

/// Run by `make soak`.
@Test(.enabled(if: ProcessInfo.processInfo.environment["TENURE_SOAK"] != nil))
func `a hundred thousand customers fit in a world`() async throws {
    try await withFile { file in
        let store = try LocalAppStore(
            try Journal(
                path: file, founding: Founding(seed: "many", now: Shop.date("2026-01-10"), apps: [Shop.app()])),
            signer: Shop.signer, courier: { _, _, _ in .success })
        var acts: [Act] = []
        for number in 0..<100_000 {
            let name = "customer \(number)"
            acts.append(Act(.customer, [.customer: name]))
            acts.append(Act(.acquire, [.customer: name]))
            if number % 4 == 0 { acts.append(Act(.buy, [.customer: name, .product: Shop.monthly])) }
            if number % 100 == 99 { acts.append(Act(.advance, [.by: "1h"])) }
        }
        let clock = ContinuousClock()
        let building = try await clock.measure { try await store.perform(acts) }
        let world = await store.world
        #expect(world.accounts.count == 100_000)
        #expect(world.subscriptions.count == 25_000)
        var again: World?
        let opening = try clock.measure { again = try Journal(path: file, founding: founding).world() }
        #expect(again?.transactions == world.transactions)
        print("100,000 customers: built in \(building), opened again in \(opening)")
    }
}
