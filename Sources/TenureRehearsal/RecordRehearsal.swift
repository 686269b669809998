import Foundation
package import TenureCore
import TenurePolicyFile
package import TenureStore

/// Rehearses a comparison over the record of a service: every customer with their evidence and their promises.
package struct RecordRehearsal: Sendable {
    private let comparison: Comparison
    private let realms: Set<Realm>

    /// `withTests`: also those for whom a test authority vouches. They are passed over otherwise, as the service does
    /// that runs without it.
    package init(_ comparison: Comparison, environments: [AppStoreEnvironment], withTests: Bool) {
        self.comparison = comparison
        realms = Set(
            environments.flatMap { environment in
                [Realm(environment)] + (withTests ? [Realm(environment, isTest: true)] : [])
            })
    }

    package struct Outcome: Sendable {
        package let tally: Tally
        /// Customers of other realms.
        package let passedOver: Int
        package let isPartial: Bool
    }

    private static let pageSize = 1024

    /// Reads page by page, so that a service goes on writing: who comes meanwhile may be missed, and nobody counts twice.
    package func run(
        over store: any Store, isStopped: @Sendable () -> Bool = { false },
        progress: (EvidenceRehearsal.Progress) -> Void = { _ in }
    ) async throws -> Outcome {
        let policies = try await promising(in: store)
        var tally = Tally(for: comparison)
        var passedOver = 0
        var state = EvidenceRehearsal.Progress()
        var last: Int64? = 0
        // Numbers rise with time and some are unused: the highest says how far it is, near enough.
        let newest = try await reporting { () throws(StoreError) in try await store.newestCustomer() }

        func nextPage() async throws -> CustomerPage? {
            guard let after = last, !isStopped() else { return nil }
            let page = try await reporting { () throws(StoreError) in
                try await store.customerPage(after: after, limit: Self.pageSize)
            }
            last = page.last
            return page.last == nil ? nil : page
        }

        let work = self
        try await inOrder(makeNext: nextPage, { page, _ in work.judge(page, policies) }) { result in
            let judged = try result.get()
            tally.add(judged.tally)
            passedOver += judged.passedOver
            state.lines += judged.tally.customers + judged.passedOver
            if let last, newest > 0 { state.share = Double(last) / Double(newest) }
            progress(state)
        }
        return Outcome(tally: tally, passedOver: passedOver, isPartial: isStopped())
    }

    private func judge(
        _ page: CustomerPage, _ policies: [Int64: Policy]
    ) -> Result<(tally: Tally, passedOver: Int), RehearsalError> {
        var tally = Tally(for: comparison)
        var passedOver = 0
        var broken: Int64?
        do throws(StoreError) {
            try page.forEach { publicID, realm, facts throws(StoreError) in
                guard realms.contains(realm) else {
                    passedOver += 1
                    return
                }
                let facts = try facts()
                var promises: [Promise] = []
                for promise in facts.promises {
                    guard let policy = policies[promise.policyVersion] else {
                        broken = promise.policyVersion
                        return
                    }
                    promises.append(
                        Promise(
                            entitlement: promise.entitlement, acquisition: promise.acquisition, policy: policy,
                            until: promise.until))
                }
                comparison.count(facts.evidence(in: realm.environment), id: publicID, promises: promises, in: &tally)
            }
        } catch {
            return .failure(.record(error))
        }
        if let broken { return .failure(.brokenPolicy(broken)) }
        return .success((tally, passedOver))
    }

    /// Every version by which promises are judged.
    private func promising(in store: any Store) async throws -> [Int64: Policy] {
        var policies: [Int64: Policy] = [:]
        for recorded in try await reporting({ () throws(StoreError) in try await store.policies() }) {
            guard let policy = try? PolicyFile.read(recorded.compiled, named: "policy \(recorded.version)") else {
                throw RehearsalError.brokenPolicy(recorded.version)
            }
            // What is made anew equals it, and is compared in a moment only where it is the very same.
            policies[recorded.version] = policy == comparison.new ? comparison.new : policy
        }
        return policies
    }

    private func reporting<Value>(_ work: () async throws(StoreError) -> Value) async throws -> Value {
        do {
            return try await work()
        } catch {
            throw RehearsalError.record(error)
        }
    }
}
