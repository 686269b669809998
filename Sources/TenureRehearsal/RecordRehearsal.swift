import Foundation
package import TenureCore
import TenurePolicyFile
package import TenureStore

/// Rehearses a comparison over the database of a service: every customer with their evidence and their promises.
package struct RecordRehearsal: Sendable {
    private let comparison: Comparison
    private let realms: Set<UInt8>

    /// `withTests`: also customers of a test authority. Otherwise they are skipped, as a service without that authority
    /// does.
    package init(_ comparison: Comparison, environments: [AppStoreEnvironment], withTests: Bool) {
        self.comparison = comparison
        realms = Set(
            environments.flatMap { environment in
                [Realm(environment)] + (withTests ? [Realm(environment, isTest: true)] : [])
            }.map(\.code))
    }

    package struct Outcome: Sendable {
        package let tally: Tally
        /// Customers of other environments or authorities.
        package let passedOver: Int
        package let isPartial: Bool
    }

    /// Row numbers in a page; most of them belong to a customer.
    private static let pageSize: Int64 = 8192

    private struct Page: Sendable {
        let after: Int64
        let through: Int64
        /// The result of the pages before it.
        let known: KnownVerdicts
        let ranks: ExampleRanks
    }

    /// Reads page by page, so that a service can continue to write. New customers may be missed, and none counts twice.
    package func run(
        over store: any Store, isStopped: @Sendable () -> Bool = { false },
        progress: (EvidenceRehearsal.Progress) -> Void = { _ in }
    ) async throws -> Outcome {
        let newest: Int64
        do throws(StoreError) {
            newest = try await store.newestCustomer()
        } catch {
            throw RehearsalError.record(error)
        }
        let policies = try await policies(in: store)
        let judge = PageJudge(
            comparison: comparison, realms: realms, policies: policies,
            instants: CriticalInstants(of: [comparison.new] + [comparison.old].compactMap(\.self) + policies.values))
        var tally = Tally(for: comparison)
        var kinds = CountedKinds()
        var passedOver = 0
        var state = EvidenceRehearsal.Progress()
        var next: Int64 = 0
        var done: Int64 = 0

        func nextPage() -> Page? {
            guard next < newest, !isStopped() else { return nil }
            defer { next += Self.pageSize }
            return Page(
                after: next, through: min(next + Self.pageSize, newest), known: kinds.known,
                ranks: ExampleRanks(of: tally))
        }

        let judgePage = { @Sendable (page: Page, _: Int) async -> Result<(PageJudge.Outcome, Page), RehearsalError> in
            do throws(RehearsalError) {
                let outcome = try await judge.judge(knowing: page.known, ranks: page.ranks) {
                    body throws(StoreError) in
                    try await store.forEachCustomer(after: page.after, through: page.through, body)
                }
                return .success((outcome, page))
            } catch {
                return .failure(error)
            }
        }
        try await inOrder(makeNext: nextPage, judgePage) { result in
            let (outcome, page) = try result.get()
            tally.add(outcome.tally)
            kinds.add(outcome.own, times: outcome.times, in: &tally)
            passedOver += outcome.passedOver
            done = page.through
            state.lines = tally.customers + kinds.customers + passedOver
            state.share = Double(done) / Double(max(1, newest))
            progress(state)
        }
        kinds.add(to: &tally)
        return Outcome(tally: tally, passedOver: passedOver, isPartial: isStopped() && done < newest)
    }

    /// Every version by which promises are judged.
    private func policies(in store: any Store) async throws -> [Int64: Policy] {
        let recorded: [RecordedPolicy]
        do throws(StoreError) {
            recorded = try await store.policies()
        } catch {
            throw RehearsalError.record(error)
        }
        var policies: [Int64: Policy] = [:]
        for version in recorded {
            guard let policy = try? PolicyFile.read(version.compiled, named: "policy \(version.version)") else {
                throw RehearsalError.brokenPolicy(version.version)
            }
            policies[version.version] = policy
        }
        return policies
    }
}
