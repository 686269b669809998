import Foundation
package import TenureCore
import TenurePolicyFile
package import TenureStore

/// Rehearses a policy (a dry run) over all customers in a service's database, with their evidence and their promises
/// (recorded rights that a policy can't take).
package struct DatabaseRehearsal: Sendable {
    private let comparison: Comparison
    /// The codes of the realms to include. A realm is what signed a customer's artifacts: an environment of the App
    /// Store, or a test authority (a certificate authority that replaces Apple's in tests).
    private let realms: Set<UInt8>
    /// The number of row IDs in a page. Erased customers leave gaps, so a page may have fewer customers.
    var pageSize: Int64 = 8192
    /// The maximum number of kinds of customers in memory. Customers who differ only in ways that can't change the
    /// decision are one kind, and are decided once (`CustomerKinds`). Customers of further kinds are decided one by
    /// one, which takes more time but no more memory.
    var maximumKinds = 40_000

    /// - Parameters:
    ///   - environments: the App Store environments to include.
    ///   - includesTestAuthorities: whether to include customers with artifacts that a test authority signed. Otherwise
    ///     these customers are skipped.
    package init(_ comparison: Comparison, environments: [AppStoreEnvironment], includesTestAuthorities: Bool) {
        self.comparison = comparison
        realms = Set(
            environments.flatMap { environment in
                [Realm(environment)] + (includesTestAuthorities ? [Realm(environment, isTest: true)] : [])
            }.map(\.code))
    }

    /// The result of a rehearsal.
    package struct Outcome: Sendable {
        /// The counts of all customers who were evaluated.
        package let tally: Tally
        /// The number of customers who were skipped, because their realm isn't included.
        package let skippedCustomers: Int
        /// Whether the rehearsal was stopped before the last customer.
        package let isPartial: Bool
    }

    /// A range of customers, by their row IDs in the database. One task reads and evaluates it.
    private struct Page: Sendable {
        /// The row ID before the first row of the page.
        let after: Int64
        /// The last row ID of the page.
        let through: Int64
        /// The kinds of customers that earlier pages found, with their effects.
        let knownKinds: CustomerKinds
        /// The ranks up to which customers can become examples in the report. Each customer has a rank, a hash of the
        /// ID.
        let ranks: ExampleRanks
    }

    /// Runs the rehearsal. It reads the database in pages, so that a service can write meanwhile. No customer is
    /// counted twice, but customers who are added meanwhile may be missing.
    ///
    /// - Parameters:
    ///   - isStopped: called often. When it returns true, the rehearsal ends with the customers read so far.
    ///   - progress: called after each page.
    package func run(
        over store: Store, isStopped: @Sendable () -> Bool = { false },
        progress: (EvidenceRehearsal.Progress) -> Void = { _ in }
    ) async throws -> Outcome {
        let (lastRow, versions): (Int64, [StoredPolicy])
        do throws(StoreError) {
            (lastRow, versions) = try await store.read { (try $0.highestCustomerRowID(), try $0.policies()) }
        } catch {
            throw RehearsalError.database(error)
        }
        // The stored versions of the policy, by number. A promise refers to the version that gave the right.
        var policies: [Int64: Policy] = [:]
        for version in versions {
            guard let policy = try? PolicyFile.read(version.compiled, named: "policy \(version.version)") else {
                throw RehearsalError.brokenPolicy(version.version)
            }
            policies[version.version] = policy
        }
        let evaluator = PageEvaluator(
            comparison: comparison, realms: realms, policies: policies,
            instants: CriticalInstants(of: [comparison.new] + [comparison.old].compactMap(\.self) + policies.values),
            maximumKinds: maximumKinds)
        var tally = Tally(for: comparison)
        var kinds = CountedKinds()
        var skipped = 0
        var latestProgress = EvidenceRehearsal.Progress()
        var pagedThrough: Int64 = 0
        var decidedThrough: Int64 = 0

        func nextPage() -> Page? {
            guard pagedThrough < lastRow, !isStopped() else { return nil }
            defer { pagedThrough += pageSize }
            return Page(
                after: pagedThrough, through: min(pagedThrough + pageSize, lastRow), knownKinds: kinds.knownKinds,
                ranks: ExampleRanks(of: tally))
        }

        let evaluatePage = {
            @Sendable (page: Page) async -> Result<(PageEvaluator.Outcome, Page), RehearsalError> in
            do throws(RehearsalError) {
                let outcome = try await evaluator.evaluate(knowing: page.knownKinds, ranks: page.ranks) {
                    body throws(StoreError) in
                    try await store.database.forEachCustomer(after: page.after, through: page.through, body)
                }
                return .success((outcome, page))
            } catch {
                return .failure(error)
            }
        }
        try await inOrder(makeNext: nextPage, evaluatePage) { result in
            let (outcome, page) = try result.get()
            tally.add(outcome.tally)
            kinds.add(outcome.newKinds, times: outcome.times, upTo: maximumKinds, in: &tally)
            skipped += outcome.skippedCustomers
            decidedThrough = page.through
            latestProgress.lines = tally.customers + kinds.customers + skipped
            latestProgress.share = Double(decidedThrough) / Double(max(1, lastRow))
            progress(latestProgress)
        }
        kinds.add(to: &tally)
        return Outcome(tally: tally, skippedCustomers: skipped, isPartial: isStopped() && decidedThrough < lastRow)
    }
}
