import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `the settings and attempts of PostgreSQL transactions` {
    /// The settings that Tenure sets, or that depend on the kind of a transaction.
    private static let names = [
        "transaction_isolation", "transaction_read_only", "lock_timeout", "statement_timeout",
        "idle_in_transaction_session_timeout", "search_path", "jit", "standard_conforming_strings", "enable_seqscan",
        "enable_bitmapscan", "plan_cache_mode",
    ]

    @Test func `each kind of PostgreSQL transaction has its isolation, its access mode and its timeouts`() throws {
        let address = try freshAddress()
        let connection = try PostgresConnection(to: address, for: .transactions)
        let usual = [
            "transaction_isolation": "read committed", "transaction_read_only": "off", "lock_timeout": "2500ms",
            "statement_timeout": "4s", "idle_in_transaction_session_timeout": "1min",
            "search_path": "\(address.schema), pg_temp", "jit": "off", "standard_conforming_strings": "on",
            "enable_seqscan": "on", "enable_bitmapscan": "on", "plan_cache_mode": "auto",
        ]
        let keys = AdvisoryKeys(["a"], schema: address.schema)
        let kinds: [(PostgresConnection.Transaction, [String: String])] = [
            (.reading, ["transaction_isolation": "repeatable read", "transaction_read_only": "on"]),
            (
                .lookingUp,
                [
                    "transaction_read_only": "on", "enable_seqscan": "off", "enable_bitmapscan": "off",
                    "plan_cache_mode": "force_generic_plan",
                ]
            ), (.writing(keys), [:]), (.alone, ["lock_timeout": "0", "statement_timeout": "0"]),
        ]
        let list = Self.names.map { "current_setting('\($0)')" }.joined(separator: ", ")
        for (kind, different) in kinds {
            let row = try connection.transact(kind) { () throws(PostgresFailure) in
                try connection.rows("SELECT \(list)").first
            }
            var found: [String: String] = [:]
            for (name, value) in zip(Self.names, row?.values ?? []) {
                if case .text(let text) = value { found[name] = text }
            }
            let expected = usual.merging(different) { $1 }
            #expect(found == expected, "\(kind)")
        }
    }

    @Test func `statements of a PostgreSQL transaction for a report have no time limit, and a dump may pause`()
        async throws
    {
        let timeouts = """
            SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
            current_setting('idle_in_transaction_session_timeout')
            """
        try await withStore { store in
            let report = try await store.database.read { session throws(StoreError) in
                try session.allowLongStatements()
                return try session.row(timeouts)
            }
            #expect(report?.values == ["0", "10s", "1min"])
            let dump = try await store.database.read { session throws(StoreError) in
                _ = try DatabaseWalk(session)
                return try session.row(timeouts)
            }
            #expect(dump?.values == ["0", "10s", "0"])
            // The connection's next transaction has the usual timeouts again.
            let next = try await store.database.read { session throws(StoreError) in try session.row(timeouts) }
            #expect(next?.values == ["4s", "2500ms", "1min"])
        }
    }

    @Test(arguments: [(11, nil), (12, .busy)] as [(Int, StoreError?)])
    func `a PostgreSQL transaction that conflicts again and again is given up as busy after twelve attempts`(
        conflicts: Int, expected: StoreError?
    ) async throws {
        try await withStore { store in
            let runs = Counter()
            var found: StoreError?
            do throws(StoreError) {
                try await store.database.write(locking: []) { session throws(StoreError) in
                    if runs.increment() <= conflicts {
                        try session.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")
                    }
                }
            } catch {
                found = error
            }
            #expect(found == expected)
            #expect(runs.value == 12)
        }
    }
}
