import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore

@testable import TenurePostgres

/// Returns a schema name that no other test uses.
func freshSchema() -> String { "t_" + UUID().uuidString.replacing("-", with: "").lowercased() }

/// An address on the shared server, with its own schema.
func freshAddress(_ options: String = "") throws -> PostgresAddress {
    let more = options.isEmpty ? "" : "&" + options
    return try PostgresAddress(try PostgresServer.shared().url("schema=\(freshSchema())\(more)"))
}

/// The timeout for waiting; long enough for a slow machine that runs many tests at once.
let waitTimeout: Duration = .seconds(120)

/// Calls `body` with a new store, and closes the store.
func withStore<Value>(
    at address: PostgresAddress? = nil, _ body: (Store) async throws -> Value
) async throws -> Value {
    let store = try await Store(PostgresDatabase(address ?? freshAddress(), waitTimeout: waitTimeout))
    do {
        let value = try await body(store)
        try await store.close()
        return value
    } catch {
        try await store.close()
        throw error
    }
}

extension Store {
    /// Adds one artifact to the customer with this acquisition.
    func add(_ text: String, to id: String) async throws -> Customer {
        try await update([Identity(.appTransactionID, id)], in: Realm(.production), at: .now) { known in
            var update = CustomerUpdate(of: known)
            update.add([Artifact(.receipt, bytes: Array(text.utf8), sha256: Array(text.utf8), signedDate: nil)])
            return (update, ())
        }.0
    }
}

/// An event that happens once, and for which threads can wait. Use it in bodies of transactions, which run on threads
/// that may block.
final class Signal: @unchecked Sendable {
    // `Locked` can't wait until another thread changes the value. `hasFired` is used only while the condition is
    // locked.
    private let condition = NSCondition()
    private var hasFired = false

    func fire() {
        condition.lock()
        hasFired = true
        condition.broadcast()
        condition.unlock()
    }

    var hasHappened: Bool {
        condition.lock()
        defer { condition.unlock() }
        return hasFired
    }

    func wait() {
        condition.lock()
        while !hasFired { condition.wait() }
        condition.unlock()
    }
}

/// A counter for several threads.
final class Counter: Sendable {
    private let count = Locked(0)

    @discardableResult func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    var value: Int { count.withLock { $0 } }
}

/// A list to which tasks add entries. Other tasks can wait until it has a number of entries.
actor Log<Entry: Sendable> {
    private(set) var entries: [Entry] = []
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func append(_ entry: Entry) {
        entries.append(entry)
        for waiter in waiting where waiter.count <= entries.count { waiter.continuation.resume() }
        waiting.removeAll { $0.count <= entries.count }
    }

    func reaches(_ count: Int) async {
        guard entries.count < count else { return }
        await withCheckedContinuation { waiting.append((count, $0)) }
    }
}

/// Returns the names and types of all columns, and all indexes.
func shape(of address: PostgresAddress) throws -> [SQLRow] {
    let connection = try PostgresConnection(to: address, for: .transactions)
    return try connection.rows(
        """
        SELECT table_name::text || '.' || column_name || ' ' || data_type || ' ' || is_nullable
        FROM information_schema.columns WHERE table_schema = $1
        UNION ALL SELECT replace(indexdef, $1, '') FROM pg_indexes WHERE schemaname = $1 ORDER BY 1
        """, [.text(address.schema)])
}
