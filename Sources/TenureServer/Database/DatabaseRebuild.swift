package import TenureAppStore
import TenureCore
package import TenureStore

/// Computes the facts of every customer again from their artifacts, and stores them where they differ. The facts are
/// what decisions need; see `CustomerFacts`.
package struct DatabaseRebuild: Sendable {
    private let store: Store
    private let derivation: Derivation
    /// Whether to count the changes only, and write nothing.
    private let isTrial: Bool

    /// How many customers a rebuild handled.
    package struct Outcome: Sendable, Hashable {
        /// The number of customers, without those merged into others.
        package var customers: Int64 = 0
        /// The number of customers with wrong facts, which were replaced.
        package var changed: Int64 = 0
        /// The number of customers who couldn't be rebuilt, because an artifact can't be verified. Their facts stay
        /// unchanged.
        package var failed: Int64 = 0
    }

    /// The result of rebuilding one customer.
    private enum CustomerResult: Sendable {
        /// The stored facts were right.
        case same
        /// The stored facts were wrong.
        case changed
        /// An artifact can't be verified, so nothing was changed.
        case failed(DatabaseFinding)
    }

    /// Rebuilds the facts of all customers while the service runs. Artifacts are verified outside of transactions. Each
    /// customer with other facts than before is written in a short transaction.
    ///
    /// - Parameters:
    ///   - trust: The trust anchors of the service that filled the database.
    ///   - isTrial: Whether to count the changes only, and write nothing.
    ///   - progress: Called with the number of customers handled so far, and of all customers.
    ///   - report: Called for every customer who can't be rebuilt because an artifact can't be verified.
    package static func run(
        on store: Store, trust: TrustConfiguration, isTrial: Bool,
        progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in },
        report: @escaping @Sendable (DatabaseFinding) -> Void
    ) async throws(StoreError) -> Outcome {
        let derivation = Derivation(trust: trust, policies: try await store.read { try $0.policies() })
        let rebuild = DatabaseRebuild(store: store, derivation: derivation, isTrial: isTrial)
        let total = try await store.read { try $0.customerCount() }
        var outcome = Outcome()
        var handled: Int64 = 0
        var lastNumber = Int64.min
        while true {
            let batch = try await store.read { [lastNumber] in try $0.allCustomers(after: lastNumber, limit: 64) }
            guard let last = batch.last else { return outcome }
            let customers = batch.filter(\.isLiving).map { (number: $0.number, publicID: $0.publicID) }
            for result in try await rebuild.results(of: customers) {
                outcome.customers += 1
                switch result {
                case .same: break
                case .changed: outcome.changed += 1
                case .failed(let finding):
                    outcome.failed += 1
                    report(finding)
                }
            }
            lastNumber = last.number
            handled += Int64(batch.count)
            progress(handled, total)
        }
    }

    /// Rebuilds customers in parallel, so that the database flushes several transactions to the disk at once.
    private func results(
        of customers: [(number: Int64, publicID: String)]
    ) async throws(StoreError) -> [CustomerResult] {
        do {
            return try await withThrowingTaskGroup(of: (Int, CustomerResult).self) { group in
                for (index, customer) in customers.enumerated() {
                    group.addTask { (index, try await result(of: customer.number, customer.publicID)) }
                }
                var results: [(index: Int, result: CustomerResult)] = []
                for try await (index, result) in group { results.append((index, result)) }
                return results.sorted { $0.index < $1.index }.map(\.result)
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .failed("\(error)")
        }
    }

    /// Rebuilds one customer.
    private func result(of number: Int64, _ publicID: String) async throws(StoreError) -> CustomerResult {
        do throws(StoreError) {
            if isTrial {
                let rows = try await store.read { try $0.rows(of: number) }
                guard let rows, try derivation.facts(of: rows) != rows.customer.facts else { return .same }
                return .changed
            }
            let result = try await store.rebuild(number) { rows throws(StoreError) in try derivation.facts(of: rows) }
            // A customer who isn't in the database anymore counts as unchanged.
            return result?.hasChanged == true ? .changed : .same
        } catch {
            guard case .damaged(let detail) = error else { throw error }
            return .failed(DatabaseFinding("\(detail); the customer's facts stay unchanged", of: publicID, .trust))
        }
    }
}
