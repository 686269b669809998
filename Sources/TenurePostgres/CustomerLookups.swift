import Foundation
import TenureCore
import TenureStore

/// Looks up customers by number: the question that is asked for every request.
///
/// One statement in a transaction of its own, on connections that do nothing else, so that no writer is waited for. What
/// is asked while a transaction is under way shares the next one.
final class CustomerLookups: @unchecked Sendable {
    // Sound: `waiting` and `rounds` are touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var waiting: [Lookup] = []
    /// How many connections are at work, or about to be.
    private var rounds = 0
    private let pool: PostgresPool
    private let terms: DatabaseTerms

    private struct Lookup: Sendable {
        let id: Int64
        let continuation: CheckedContinuation<Result<Found, StoreError>, Never>
        /// How often the connection broke under it.
        var losses = 0
    }

    private enum Found: Sendable {
        case nobody
        case customer(Customer)
        /// The customer turned out to be another.
        case another(Int64)
    }

    private static let connections = 2
    private static let largestGroup = 64
    /// A chain is as long as the merges by which it came about; a damaged one must not run in a circle.
    private static let longestChain = 100

    init(at address: PostgresAddress, under terms: DatabaseTerms, patience: Duration) {
        self.terms = terms
        pool = Self.newPool(at: address, patience: patience)
    }

    static func newPool(at address: PostgresAddress, patience: Duration) -> PostgresPool {
        PostgresPool(to: address, for: .lookups, limit: connections, patience: patience)
    }

    func customer(_ id: Int64) async throws(StoreError) -> Customer? {
        var id = id
        for _ in 0..<Self.longestChain {
            switch try await find(id) {
            case .nobody: return nil
            case .customer(let customer): return customer
            // One who is merged into themselves was erased.
            case .another(id): return nil
            case .another(let other): id = other
            }
        }
        throw .damaged("customer \(id) was merged in a circle")
    }

    func close() async { await pool.close() }

    // MARK: Groups

    private func find(_ id: Int64) async throws(StoreError) -> Found {
        let result: Result<Found, StoreError> = await withCheckedContinuation { continuation in
            submit([Lookup(id: id, continuation: continuation)])
        }
        return try result.get()
    }

    private func submit(_ lookups: [Lookup]) {
        lock.lock()
        waiting += lookups
        let begins = rounds < Self.connections && !waiting.isEmpty
        if begins { rounds += 1 }
        lock.unlock()
        guard begins else { return }
        pool.submit(
            run: { connection throws(PostgresFailure) in self.answer(on: connection) },
            fail: { error in self.fail(with: error) })
    }

    /// The next group; where nothing waits, this connection's round is over.
    private func next() -> [Lookup] {
        lock.lock()
        defer { lock.unlock() }
        let group = Array(waiting.prefix(Self.largestGroup))
        waiting.removeFirst(group.count)
        if group.isEmpty { rounds -= 1 }
        return group
    }

    private func fail(with error: StoreError) {
        lock.lock()
        let failed = waiting
        waiting = []
        rounds -= 1
        lock.unlock()
        for lookup in failed { lookup.continuation.resume(returning: .failure(error)) }
    }

    private func answer(on connection: PostgresConnection) {
        while true {
            let group = next()
            guard !group.isEmpty else { return }
            do {
                let found = try Self.find(group.map(\.id), on: connection, under: terms)
                for (lookup, found) in zip(group, found) { lookup.continuation.resume(returning: found) }
            } catch {
                guard connection.isLost else {
                    for lookup in group { lookup.continuation.resume(returning: .failure(error.error)) }
                    continue
                }
                lock.lock()
                rounds -= 1
                lock.unlock()
                repeatOrFail(group, after: error.error)
                return
            }
        }
    }

    /// Nothing was changed, so that it may be asked again; but whom every connection breaks under gets an answer.
    private func repeatOrFail(_ group: [Lookup], after error: StoreError) {
        var again: [Lookup] = []
        for var lookup in group {
            lookup.losses += 1
            if lookup.losses < 5 {
                again.append(lookup)
            } else {
                lookup.continuation.resume(returning: .failure(error))
            }
        }
        submit(again)
    }

    // MARK: Rows

    private static let findOne = "SELECT \(Customer.columns) FROM customers WHERE id = $1"
    private static let findMany = "SELECT \(Customer.columns) FROM customers WHERE id = ANY($1)"

    /// In the order of `ids`.
    private static func find(
        _ ids: [Int64], on connection: PostgresConnection, under terms: DatabaseTerms
    ) throws(PostgresFailure) -> [Result<Found, StoreError>] {
        var parameters = PostgresParameters()
        if ids.count == 1 { parameters.append(ids[0]) } else { parameters.append(ids) }
        let answer = try connection.transact(.lookingUp, under: terms) { () throws(PostgresFailure) in
            try connection.answer(ids.count == 1 ? findOne : findMany, parameters)
        }
        var found: [Int64: Result<Found, StoreError>] = [:]
        for row in 0..<answer.rowCount {
            guard let id = answer.integer(row, 0) else { continue }
            found[id] = Result { () throws(StoreError) in try read(id, in: row, of: answer) }
        }
        return ids.map { found[$0] ?? .success(.nobody) }
    }

    /// Straight from libpq's memory, which stays as it is for as long as the answer is held.
    private static func read(_ id: Int64, in row: Int, of answer: PostgresAnswer) throws(StoreError) -> Found {
        if let other = answer.integer(row, 5) { return .another(other) }
        guard let code = answer.integer(row, 1).flatMap({ UInt8(exactly: $0) }), let realm = Realm(code: code) else {
            throw .damaged("a customer belongs to no known realm")
        }
        guard let publicID = answer.bytes(row, 2), let createdAt = answer.integer(row, 3),
            let facts = answer.bytes(row, 4)
        else { throw .damaged("a row of a customer does not hold what was written") }
        return .customer(
            Customer(
                id: id, realm: realm, publicID: String(decoding: publicID, as: UTF8.self),
                createdAt: Date(millisecondsSince1970: createdAt), facts: try CustomerFacts(decoding: facts)))
    }
}
