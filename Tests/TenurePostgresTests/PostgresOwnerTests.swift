import Foundation
import PostgresServer
import StoreContract
import TenureCore
import Testing

@testable import TenurePostgres
@testable import TenureStore

/// The app that a database belongs to.
@Suite struct `a PostgreSQL database of one app` {
    private static func open(
        _ address: PostgresAddress, for app: String?, creates: Bool = true
    ) async throws -> Store {
        try await Store(
            PostgresDatabase(
                address, DatabaseOpening(bundleID: app, creates: creates), waitTimeout: waitTimeout))
    }

    private static func bundleID(of store: Store) async throws -> String? {
        try await store.read { try DatabaseHeader.read(in: $0.session).bundleID }
    }

    @Test func `a service of another app can't use a PostgreSQL database, and the error names both apps`() async throws
    {
        let address = try freshAddress()
        let store = try await Self.open(address, for: "com.example.first")
        #expect(try await Self.bundleID(of: store) == "com.example.first")
        let error = await #expect(throws: StoreError.self) { try await Self.open(address, for: "com.example.second") }
        #expect(
            error
                == .otherApp(database: address.fullName, found: "com.example.first", expected: "com.example.second"))
        for name in ["com.example.first", "com.example.second"] {
            #expect(error?.description.contains("`\(name)`") == true)
        }
        // A command that names no app opens the database of any app. A service of the same app starts again.
        for app in [nil, "com.example.first"] { try await Self.open(address, for: app).close() }
        try await store.close()
    }

    @Test func `only one of two apps gets a PostgreSQL database that their services create at the same time`()
        async throws
    {
        let address = try freshAddress()
        let outcomes = await withTaskGroup(of: Result<Store, any Error>.self) { group in
            for app in ["com.example.first", "com.example.second"] {
                group.addTask {
                    do { return .success(try await Self.open(address, for: app)) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var stores: [Store] = []
        for case .success(let store) in outcomes { stores.append(store) }
        #expect(stores.count == 1)
        for case .failure(let error) in outcomes {
            guard case StoreError.otherApp = error else {
                Issue.record("\(error)")
                continue
            }
        }
        for store in stores { try await store.close() }
    }

    @Test func `a PostgreSQL database that belongs to no app is assigned to the app of the first service`() async throws
    {
        let address = try freshAddress()
        try await Self.open(address, for: nil).close()
        let store = try await Self.open(address, for: "com.example.first")
        #expect(try await Self.bundleID(of: store) == "com.example.first")
        await #expect(throws: StoreError.self) { try await Self.open(address, for: "com.example.second") }
        try await store.close()
    }

    /// The database to which the pooler now leads.
    enum Other: String, CaseIterable, Sendable {
        case ofAnotherApp, ofTheSameApp, withoutSchema
    }

    @Test(arguments: Other.allCases)
    func `every transaction fails after a pooler has switched to another PostgreSQL database`(other: Other) async throws
    {
        let server = try PostgresServer()
        let admin = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        for name in ["first", "second"] { try admin.run("CREATE DATABASE \(name)") }
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 2, shop: "first")
        let address = try PostgresAddress(pooler.url(database: "shop"))
        try await Self.open(address, for: "com.example.first").close()
        // A service that has started before creates no database.
        let store = try await Self.open(address, for: "com.example.first", creates: false)
        let customer = try await store.add("a", to: "704")
        let foreign = try PostgresAddress(server.url(database: "second"))
        if other != .withoutSchema {
            let app = other == .ofTheSameApp ? "com.example.first" : "com.example.second"
            let second = try await Self.open(foreign, for: app)
            // In that database, the same number belongs to another customer.
            #expect(try await second.add("b", to: "705").id == customer.id)
            try await second.close()
        }
        try pooler.lead(to: server, database: "second")
        // The pooler reads its settings a moment later.
        while (try? await store.read({ try $0.check() })) != nil { try await Task.sleep(for: .milliseconds(10)) }
        let expected: StoreError =
            switch other {
            case .ofAnotherApp:
                .otherApp(database: address.fullName, found: "com.example.second", expected: "com.example.first")
            case .ofTheSameApp: .otherDatabase(database: address.fullName)
            case .withoutSchema: .otherDatabase(database: address.description)
            }
        for _ in 0..<20 {
            await #expect(throws: expected) { try await store.add("c", to: "706") }
            await #expect(throws: expected) { try await store.lookUp(customer.id) }
            await #expect(throws: expected) { try await store.read { try $0.customer(customer.id) } }
        }
        if other != .withoutSchema {
            let second = try await Self.open(foreign, for: nil)
            #expect(try await second.read { try $0.highestCustomerRowID() } == customer.id)
            try await second.close()
        }
        try pooler.lead(to: server, database: "first")
        while (try? await store.lookUp(customer.id)) == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await store.lookUp(customer.id) == customer)
        _ = try await store.add("c", to: "706")
        try await store.close()
    }

    @Test func `checking which app owns a PostgreSQL database adds no round trip to a write or look-up`() async throws {
        let address = try freshAddress()
        try await Self.open(address, for: "com.example.first").close()
        let connection = try PostgresConnection(to: address, for: .transactions)
        let id = try connection.open(.existing(of: "com.example.first"))
        let requirements = DatabaseRequirements(
            name: "a", id: id, bundleID: "com.example.first", version: Migration.all.count)
        func roundTrips(_ body: () throws -> Void) rethrows -> Int {
            let before = connection.roundTrips
            try body()
            return connection.roundTrips - before
        }
        let keys = AdvisoryKeys(["a", "b"], schema: address.schema)
        for transaction in [PostgresConnection.Transaction.reading, .lookingUp, .writing(keys), .alone] {
            // The first run also prepares the statement, so it needs one more round trip.
            for expected in [4, 3] {
                let count = try roundTrips {
                    _ = try connection.transact(transaction, under: requirements) { () throws(PostgresFailure) in
                        try connection.rows("SELECT name FROM progress WHERE \(expected > 0)")
                    }
                }
                #expect(count == 3 || expected == 4 && count == 4, "\(transaction): \(count)")
            }
        }
    }
}
