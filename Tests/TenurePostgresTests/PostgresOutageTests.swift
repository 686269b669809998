import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `an outage of PostgreSQL` {
    @Test(arguments: [PostgresServer.Stop.fast, .immediate])
    func `an outage of PostgreSQL loses no acknowledged write, and writes succeed when the server is back`(
        stop: PostgresServer.Stop
    )
        async throws
    {
        let server = try PostgresServer()
        let store = try await Store(PostgresDatabase(try PostgresAddress(server.url("connections=4"))))
        let acknowledged = Log<Customer>()
        let isOver = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var number = 0
                    while !isOver.hasHappened {
                        number += 1
                        do {
                            await acknowledged.append(
                                try await store.add("\(writer) \(number)", to: "\(writer).\(number)"))
                        } catch let error as StoreError where error.isRetryable {
                            continue
                        }
                    }
                }
                group.addTask {
                    while !isOver.hasHappened {
                        guard let last = await acknowledged.entries.last else {
                            await acknowledged.reaches(1)
                            continue
                        }
                        do throws(StoreError) {
                            let found = try await store.lookUp(last.id)
                            #expect(found == last)
                        } catch {
                            try #require(error.isRetryable)
                        }
                    }
                }
            }
            for _ in 0..<2 {
                await acknowledged.reaches(await acknowledged.entries.count + 40)
                try server.stop(stop)
                try server.start()
            }
            await acknowledged.reaches(await acknowledged.entries.count + 40)
            isOver.fire()
            try await group.waitForAll()
        }
        for customer in await acknowledged.entries { #expect(try await store.lookUp(customer.id) == customer) }
        try await store.close()
    }

    @Test func `during an outage of PostgreSQL, transactions and look-ups fail with a retryable error`() async throws {
        let server = try PostgresServer()
        let store = try await Store(PostgresDatabase(try PostgresAddress(server.url()), waitTimeout: .seconds(2)))
        let customer = try await store.add("a", to: "1")
        #expect(try await store.lookUp(customer.id) == customer)
        try server.stop(.fast)
        let asks: [@Sendable () async throws -> Void] = [
            { _ = try await store.add("b", to: "2") }, { _ = try await store.lookUp(1) },
            { try await store.read { try $0.check() } },
        ]
        let errors = await withTaskGroup(of: (any Error)?.self) { group in
            for ask in asks {
                group.addTask { await #expect(throws: StoreError.self) { try await ask() } }
            }
            return await group.reduce(into: []) { $0.append($1 as? StoreError) }
        }
        for error in errors {
            guard case .unreachable? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error?.isRetryable == true)
            #expect(error?.description.contains { $0 == "\t" || $0.isNewline } == false)
        }
        try server.start()
        // The pool may still be waiting before its next attempt.
        while true {
            do {
                let found = try await store.lookUp(customer.id)
                #expect(found == customer)
                break
            } catch {
                try #require(error.isRetryable)
            }
        }
        try await store.close()
    }

    @Test func `a short outage of PostgreSQL delays operations without an error`() async throws {
        let server = try PostgresServer()
        let store = try await Store(PostgresDatabase(try PostgresAddress(server.url()), waitTimeout: waitTimeout))
        let customer = try await store.add("a", to: "1")
        #expect(try await store.lookUp(customer.id) == customer)
        try server.stop(.immediate)
        async let addition = store.add("b", to: "2")
        async let lookup = store.lookUp(customer.id)
        try server.start()
        #expect(try await lookup == customer)
        #expect(try await store.lookUp(try await addition.id) != nil)
        try await store.close()
    }

    @Test func `a PostgreSQL transaction that is interrupted during its commit isn't repeated`() async throws {
        let store = try await Store(PostgresDatabase(try freshAddress("connections=1"), waitTimeout: waitTimeout))
        _ = try await store.database.write(locking: []) { session throws(StoreError) in
            // A deferred trigger runs within COMMIT. This one terminates its own connection.
            try session.execute("CREATE TABLE fatal (id BIGINT)")
            try session.execute(
                """
                CREATE FUNCTION end_it() RETURNS TRIGGER LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END $$
                """)
            try session.execute(
                """
                CREATE CONSTRAINT TRIGGER ends AFTER INSERT ON fatal DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION end_it()
                """)
        }
        let runs = Counter()
        let error = await #expect(throws: StoreError.self) {
            try await store.database.write(locking: []) { session throws(StoreError) in
                runs.increment()
                try session.execute("INSERT INTO fatal VALUES (1)")
            }
        }
        #expect(error?.isRetryable == true)
        #expect(error?.description.contains("may or may not be committed") == true)
        #expect(runs.value == 1)
        _ = try await store.add("a", to: "1")
        try await store.close()
    }

    @Test func `a transaction is repeated if PostgreSQL fails before its commit`() async throws {
        try await withStore { store in
            let runs = Counter()
            try await store.database.write(locking: [.progress("a")]) { session throws(StoreError) in
                try session.execute("INSERT INTO progress (name, value) VALUES ('a', 'b')")
                if runs.increment() == 1 { _ = try session.rows("SELECT pg_terminate_backend(pg_backend_pid())") }
            }
            #expect(runs.value == 2)
            let marks = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT name FROM progress")
            }
            #expect(marks == [SQLRow(["a"])])
        }
    }
}
