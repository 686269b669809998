package import TenureStore

/// A requirement for every store. The tests of each store check all of them, each on a new database.
package struct StoreClause: Sendable, CustomStringConvertible {
    package let description: String
    package let check: @Sendable (Store) async throws -> Void

    init(_ claim: String, _ check: @escaping @Sendable (Store) async throws -> Void) {
        description = claim
        self.check = check
    }

    package static let all: [StoreClause] =
        customers + merges + undoneMerges + transaction + promises + support + policies + outbox + endpoints
        + entitlementChanges + deliveries + notifications + trials + devices + concurrency + changes + links
        + shuffledChanges
        + erasure + jobs + accounts + unboundCustomers + returns + personas + publications
        + publishedPromises + largeUpdates + pieces + unbound
        + largeErasures + largeCustomers + largeMerges + largePublications
        + deliveryQueue + storedFields + requestIDs + evaluations
}

/// The failure of a clause.
package struct BrokenClause: Error, CustomStringConvertible {
    package let description: String
}

func expect(_ holds: Bool, _ claim: String, line: Int = #line) throws {
    guard holds else { throw BrokenClause(description: "failed (line \(line)): \(claim)") }
}

func unwrap<Value>(_ value: Value?, _ claim: String, line: Int = #line) throws -> Value {
    guard let value else { throw BrokenClause(description: "missing (line \(line)): \(claim)") }
    return value
}
