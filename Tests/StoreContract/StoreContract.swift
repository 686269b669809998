package import TenureStore

/// What every store must do, as clauses that the tests of each store run on a fresh one.
package struct StoreClause: Sendable, CustomStringConvertible {
    package let description: String
    package let check: @Sendable (any Store) async throws -> Void

    init(_ claim: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        description = claim
        self.check = check
    }

    package static let all: [StoreClause] =
        customers + merges + undoneMerges + ledger + promises + support + policies + outbox + endpoints
        + announcements + deliveries + notifications + trials + devices + concurrency + acts + links + shuffledActs
        + erasure + jobs + accounts + visits + returns + personas + publications + largeActs + pieces + unbound
        + largeErasures + largeCustomers
}

/// A clause that a store breaks.
package struct BrokenClause: Error, CustomStringConvertible {
    package let description: String
}

func expect(_ holds: Bool, _ claim: String, line: Int = #line) throws {
    guard holds else { throw BrokenClause(description: "not so (line \(line)): \(claim)") }
}

func unwrap<Value>(_ value: Value?, _ claim: String, line: Int = #line) throws -> Value {
    guard let value else { throw BrokenClause(description: "nothing there (line \(line)): \(claim)") }
    return value
}
