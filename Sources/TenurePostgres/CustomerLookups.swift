import Foundation
import TenureCore
import TenureStore

/// Looks up customers by row ID, as every request does.
///
/// Look-ups use separate connections, so that they don't wait for writers. Look-ups that arrive while all of these
/// connections are busy share the next transaction, which has one statement.
final class CustomerLookups: Sendable {
    private let queue = Locked(Queue())
    private let pool: PostgresPool
    /// What each transaction requires of the database.
    private let requirements: DatabaseRequirements
    /// How long a look-up is repeated if its connection breaks.
    private let waitTimeout: Duration

    private struct Queue {
        var waiting: [Lookup] = []
        /// The number of connections that answer look-ups, or will soon.
        var busyConnections = 0
    }

    /// A caller that waits for a customer.
    private struct Lookup: Sendable {
        /// The row ID of the customer.
        let id: Int64
        let continuation: CheckedContinuation<Result<LookedUpCustomer, StoreError>, Never>
        /// The instant until which the look-up is repeated if its connection breaks.
        let deadline: ContinuousClock.Instant
    }

    /// The maximum number of connections that answer look-ups of one app at once.
    private static let connections = 2
    /// The maximum number of look-ups in one transaction.
    private static let maximumGroupSize = 64
    /// How long one app keeps a connection while other apps may wait for it.
    private static let turn = Duration.milliseconds(20)
    /// How many merges a look-up follows, from a customer to the one into which it was merged. The limit matters only
    /// in a damaged database, in which customers were merged in a circle.
    private static let maximumChainLength = 100

    init(_ pool: PostgresPool, under requirements: DatabaseRequirements, waitTimeout: Duration) {
        self.pool = pool
        self.requirements = requirements
        self.waitTimeout = waitTimeout
    }

    /// Returns the customer with this row ID, or the one into which it was merged; nil if there is no such customer.
    ///
    /// - Parameter readInTransaction: reads the customer in a separate transaction. It is called while a published
    ///   policy still has promises (`StoredPromise`) to end or to restore, because the customer's stored facts may not
    ///   show that yet.
    func customer(
        _ id: Int64, readInTransaction: (Int64) async throws(StoreError) -> Customer?
    ) async throws(StoreError) -> Customer? {
        var id = id
        for _ in 0..<Self.maximumChainLength {
            switch try await find(id) {
            case .notFound: return nil
            case .customer(let customer): return customer
            // A customer that is merged into itself was erased.
            case .another(id): return nil
            case .another(let other): id = other
            case .awaitsPublication: return try await readInTransaction(id)
            }
        }
        throw .damaged("customer \(id) was merged in a circle")
    }

    /// How the connections are used. `waiting` counts look-ups, not the transactions that they will share.
    var usage: ConnectionPoolUsage {
        let usage = pool.usage
        let waiting = queue.withLock { $0.waiting.count }
        return ConnectionPoolUsage(usage.purpose, open: usage.open, limit: usage.limit, waiting: waiting)
    }

    func close() async { await pool.close() }

    // MARK: Groups

    private func find(_ id: Int64) async throws(StoreError) -> LookedUpCustomer {
        let result: Result<LookedUpCustomer, StoreError> = await withCheckedContinuation { continuation in
            submit([Lookup(id: id, continuation: continuation, deadline: .now + waitTimeout)])
        }
        return try result.get()
    }

    /// Queues look-ups. If look-ups wait and fewer than `connections` connections are busy, asks the pool for another
    /// connection.
    private func submit(_ lookups: [Lookup]) {
        let needsConnection = queue.withLock { queue in
            queue.waiting += lookups
            guard queue.busyConnections < Self.connections, !queue.waiting.isEmpty else { return false }
            queue.busyConnections += 1
            return true
        }
        guard needsConnection else { return }
        pool.submit(
            run: { connection throws(PostgresFailure) in self.answer(on: connection) },
            fail: { error in self.fail(with: error) })
    }

    /// Takes the next group of look-ups out of the queue. If none waits, returns an empty group and counts the caller's
    /// connection as idle.
    private func next() -> [Lookup] {
        queue.withLock { queue in
            let group = Array(queue.waiting.prefix(Self.maximumGroupSize))
            queue.waiting.removeFirst(group.count)
            if group.isEmpty { queue.busyConnections -= 1 }
            return group
        }
    }

    /// Fails all waiting look-ups, because the pool has no connection for them.
    private func fail(with error: StoreError) {
        let failed = queue.withLock { queue in
            defer { queue.waiting = [] }
            queue.busyConnections -= 1
            return queue.waiting
        }
        for lookup in failed { lookup.continuation.resume(returning: .failure(error)) }
    }

    /// Answers groups of look-ups until no look-up waits, the app's turn ends (`turn`), or the connection is lost.
    private func answer(on connection: PostgresConnection) {
        let end = ContinuousClock.now + Self.turn
        while true {
            // Other apps may wait for this connection. If look-ups wait, asks the pool for one again.
            guard end > .now else {
                giveBack()
                return submit([])
            }
            let group = next()
            guard !group.isEmpty else { return }
            do {
                let found = try Self.find(group.map(\.id), on: connection, under: requirements)
                for (lookup, found) in zip(group, found) { lookup.continuation.resume(returning: found) }
            } catch {
                guard connection.isLost else {
                    for lookup in group { lookup.continuation.resume(returning: .failure(error.error)) }
                    continue
                }
                giveBack()
                // Repeating is safe, because look-ups only read.
                let now = ContinuousClock.now
                for lookup in group where lookup.deadline <= now {
                    lookup.continuation.resume(returning: .failure(error.error))
                }
                return submit(group.filter { $0.deadline > now })
            }
        }
    }

    /// Counts the connection as idle, before `answer` returns it to the pool.
    private func giveBack() { queue.withLock { $0.busyConnections -= 1 } }

    // MARK: Rows

    private static let columns = "\(Customer.columns), \(DatabaseTransaction.unfinishedPublicationColumn)"
    private static let findOne = "SELECT \(columns) FROM customers WHERE id = $1"
    private static let findMany = "SELECT \(columns) FROM customers WHERE id = ANY($1)"

    /// Returns the results of the look-ups, in the order of `ids`.
    private static func find(
        _ ids: [Int64], on connection: PostgresConnection, under requirements: DatabaseRequirements
    ) throws(PostgresFailure) -> [Result<LookedUpCustomer, StoreError>] {
        var parameters = PostgresParameters()
        if ids.count == 1 { parameters.append(ids[0]) } else { parameters.append(ids) }
        let answer = try connection.transact(.lookingUp, under: requirements) { () throws(PostgresFailure) in
            try connection.answer(ids.count == 1 ? findOne : findMany, parameters)
        }
        var found: [Int64: Result<LookedUpCustomer, StoreError>] = [:]
        for row in 0..<answer.rowCount {
            guard let id = answer.integer(row, 0) else { continue }
            found[id] = Result { () throws(StoreError) in try read(id, in: row, of: answer) }
        }
        return ids.map { found[$0] ?? .success(.notFound) }
    }

    /// Reads a customer from libpq's memory, which is valid as long as the answer. The numbers are positions in
    /// `columns`.
    private static func read(_ id: Int64, in row: Int, of answer: PostgresAnswer) throws(StoreError) -> LookedUpCustomer
    {
        if let other = answer.integer(row, 5) { return .another(other) }
        if answer.bytes(row, 7) != nil { return .awaitsPublication }
        guard let code = answer.integer(row, 1).flatMap({ UInt8(exactly: $0) }), let realm = Realm(code: code)
        else { throw .damaged("customer \(id) has an unknown number in the column `realm`") }
        guard let publicID = answer.bytes(row, 2), let createdAt = answer.integer(row, 3),
            let facts = answer.bytes(row, 4)
        else { throw .damaged("the row of customer \(id) has a value that is missing or has another type") }
        return .customer(
            Customer(
                id: id, realm: realm, publicID: String(decoding: publicID, as: UTF8.self),
                createdAt: Date(millisecondsSince1970: createdAt), facts: try CustomerFacts(decoding: facts)))
    }
}
