import TenureCore
package import TenureStore

/// A database that counts the work of its transactions. A test can run code, or fail, before a transaction that writes.
package struct CountedDatabase: Database {
    private let base: any Database
    package let counts: Counts

    /// The work of one transaction.
    package struct Transaction: Sendable {
        package let writes: Bool
        package var statements = 0
        /// The number of bound values. A statement that inserts many rows binds many values.
        package var values = 0
        /// Bytes of the texts and blobs that were bound.
        package var bytes = 0
        /// Rows that were inserted, changed or deleted.
        package var changedRows = 0
        /// How many times the facts of a customer were read.
        package var factsRead = 0
        /// How many keys were locked.
        package var keys = 0
    }

    package final class Counts: Sendable {
        private struct State: Sendable {
            var all: [Transaction] = []
            var started = 0
            var running = 0
            var before: (@Sendable (Int) async throws -> Void)?
        }

        private let state = Locked(State())

        package init() {}

        package var transactions: [Transaction] { state.withLock { $0.all } }
        package var writes: [Transaction] { transactions.filter(\.writes) }
        /// Whether a transaction that writes is running.
        package var isWriting: Bool { state.withLock { $0.running > 0 } }

        fileprivate func run(_ change: Int) { state.withLock { $0.running += change } }

        package func reset(before: (@Sendable (Int) async throws -> Void)? = nil) {
            state.withLock { state in
                state.all = []
                state.started = 0
                state.before = before
            }
        }

        fileprivate func add(_ transaction: Transaction) { state.withLock { $0.all.append(transaction) } }

        fileprivate func begin() async throws(StoreError) {
            let (number, before) = state.withLock { state in
                state.started += 1
                return (state.started, state.before)
            }
            do {
                try await before?(number)
            } catch {
                throw .failed("\(error)")
            }
        }
    }

    package init(_ base: any Database, _ counts: Counts = Counts()) {
        self.base = base
        self.counts = counts
    }

    package var id: [UInt8] { base.id }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let counts = counts
        return try await base.read { session throws(StoreError) in
            let counted = CountedSession(session, writes: false)
            defer { counts.add(counted.transaction) }
            return try body(counted)
        }
    }

    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let counts = counts
        try await counts.begin()
        return try await base.write(locking: keys) { session throws(StoreError) in
            let counted = CountedSession(session, writes: true, keys: keys.count)
            counts.run(1)
            defer {
                counts.run(-1)
                counts.add(counted.transaction)
            }
            return try body(counted)
        }
    }

    /// Writes without counting: only maintenance writes alone.
    package func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await base.writeAlone(body)
    }

    package func close() async throws(StoreError) { try await base.close() }
}

private final class CountedSession: DatabaseSession {
    private let base: any DatabaseSession
    private(set) var transaction: CountedDatabase.Transaction

    init(_ base: any DatabaseSession, writes: Bool, keys: Int = 0) {
        self.base = base
        transaction = CountedDatabase.Transaction(writes: writes)
        transaction.keys = keys
    }

    var dialect: SQLDialect { base.dialect }
    var headers: HeaderRowIDs? { base.headers }

    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow] {
        count(sql, arguments)
        return try base.rows(sql, arguments)
    }

    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int {
        count(sql, arguments)
        let changed = try base.execute(sql, arguments)
        transaction.changedRows += changed
        return changed
    }

    func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64? {
        count(sql, arguments)
        transaction.changedRows += 1
        return try base.insert(sql, arguments)
    }

    private func count(_ sql: String, _ arguments: [SQLValue]) {
        transaction.statements += 1
        transaction.values += arguments.count
        for argument in arguments {
            switch argument {
            case .blob(let bytes): transaction.bytes += bytes.count
            case .text(let text): transaction.bytes += text.utf8.count
            case .integer, .real, .null: break
            }
        }
        if sql.contains("public_id, created_at, facts") && sql.hasPrefix("SELECT") { transaction.factsRead += 1 }
    }
}

extension Store {
    /// A store over the same database that counts the work of its transactions. Like another process, it has its own
    /// write queue. So a test can use this store between two transactions of the original store.
    package var counted: Store { Store(CountedDatabase(database)) }

    /// The counts of a counted store.
    package var counts: CountedDatabase.Counts { (database as? CountedDatabase)?.counts ?? CountedDatabase.Counts() }

    /// Runs `body`, and counts its transactions, and how many entries of facts it decodes, combines or reports itself.
    func measured<Value>(
        _ body: (_ count: @escaping @Sendable (Int) -> Void) async throws -> Value
    ) async throws -> (Value, Work) {
        let (counts, work) = (counts, Locked(Work()))
        let count: @Sendable (Int) -> Void = { entries in
            work.withLock { if counts.isWriting { $0.within += entries } else { $0.outside += entries } }
        }
        counts.reset()
        let value = try await CustomerFacts.$entryCounter.withValue(count) { try await body(count) }
        work.withLock { $0.writes = counts.writes }
        return (value, work.withLock { $0 })
    }
}

/// The number of entries of facts that were decoded, combined or reported, and the transactions that wrote.
struct Work: Sendable {
    /// The entries that were processed while a transaction wrote.
    var within = 0
    var outside = 0
    var writes: [CountedDatabase.Transaction] = []

    /// Expects that other writers wait no longer than for twenty ordinary updates.
    func expectShort(than ordinary: CountedDatabase.Transaction, _ name: String) throws {
        try StoreContract.expect(
            within < 200, "\(name): \(within) entries verified, evaluated, decoded or combined in a transaction")
        try StoreContract.expect(!writes.isEmpty, "\(name): no transaction wrote")
        for write in writes {
            try StoreContract.expect(
                write.statements <= 20 * ordinary.statements, "\(name): \(write.statements) statements")
            try StoreContract.expect(write.values <= 20 * ordinary.values, "\(name): \(write.values) values")
        }
    }
}
