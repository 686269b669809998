import TenureCore
import TenureStore

/// Decides for a page of customers in a service's database. Customers who differ only in ways that can't change a
/// decision are of one kind (`CustomerKinds`), and the evaluator decides only once for each kind.
///
/// Most customers have plain facts (`PlainFacts`), which show the kind without decoding. Other customers are evaluated
/// one by one.
struct PageEvaluator: Sendable {
    /// The two policies to compare, and the date of the decisions.
    let comparison: Comparison
    /// The codes of the realms to include. A realm is what signed a customer's artifacts: an environment of the App
    /// Store, or a test authority.
    let realms: Set<UInt8>
    /// The stored versions of the policy, by number. A promise (a recorded right) refers to the version that gave it.
    let policies: [Int64: Policy]
    /// The dates with which the policies compare purchase dates.
    let instants: CriticalInstants
    /// The maximum number of kinds in memory.
    let maximumKinds: Int

    /// The result of a page.
    struct Outcome: Sendable {
        /// The counts of customers who were evaluated one by one, and the examples among all customers of the page.
        var tally: Tally
        /// The number of customers who were skipped, because their realm isn't included.
        var skippedCustomers = 0
        /// The new kinds that this page found.
        var newKinds = CustomerKinds()
        /// The number of customers of each kind: first the kinds of earlier pages, then the new kinds.
        var times: [Int]
    }

    /// Decides for the customers that `rows` passes.
    ///
    /// - Parameters:
    ///   - knownKinds: the kinds that earlier pages found.
    ///   - ranks: the ranks up to which customers can become examples in the report. A customer's rank is a hash of the
    ///     ID. Most customers have higher ranks, so they needn't be decoded.
    ///   - rows: passes the realm, the public ID and the encoded facts of each customer.
    func evaluate(
        knowing knownKinds: CustomerKinds, ranks: ExampleRanks,
        _ rows: ((UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void)
            async throws(StoreError) -> Void
    ) async throws(RehearsalError) -> Outcome {
        var work = Work(evaluator: self, knownKinds: knownKinds, initialRanks: ranks)
        do throws(StoreError) {
            try await rows { realm, publicID, facts throws(StoreError) in try work.add(realm, publicID, facts) }
        } catch {
            throw .database(error)
        }
        if let version = work.missingPolicy { throw .brokenPolicy(version) }
        return work.outcome
    }

    /// The state while one page is evaluated.
    private struct Work {
        let evaluator: PageEvaluator
        /// The ranks up to which customers could become examples when the page began.
        let initialRanks: ExampleRanks
        let knownKinds: CustomerKinds
        /// Whether each realm, by its code, is included.
        let realms: [Bool]
        var outcome: Outcome
        /// The number of a policy version that a promise refers to, but that doesn't exist.
        var missingPolicy: Int64?
        /// The rank up to which customers of a kind can become examples, by the kind's index in `outcome.times`; nil if
        /// it wasn't computed yet.
        private var ranks: [UInt64?]
        /// A buffer for the key of the current customer.
        private var keyBuffer = [UInt8](repeating: 0, count: 1024)

        init(evaluator: PageEvaluator, knownKinds: CustomerKinds, initialRanks: ExampleRanks) {
            self.evaluator = evaluator
            self.knownKinds = knownKinds
            self.initialRanks = initialRanks
            var realms = Array(repeating: false, count: 256)
            for realm in evaluator.realms { realms[Int(realm)] = true }
            self.realms = realms
            outcome = Outcome(
                tally: Tally(for: evaluator.comparison), times: Array(repeating: 0, count: knownKinds.count))
            ranks = Array(repeating: nil, count: knownKinds.count)
        }

        /// Counts a customer. Decides only for the first customer of a kind, for customers who may become examples, and
        /// for customers without a kind: their facts aren't plain, or there are too many kinds.
        mutating func add(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) {
            guard realms[Int(realm)] else {
                outcome.skippedCustomers += 1
                return
            }
            let instants = evaluator.instants
            let size = keyBuffer.withUnsafeMutableBytes { buffer in
                PlainFacts.writeKey(of: facts, in: realm, to: buffer) { instants.dateClass(of: $0) }
            }
            // If the size is nil, the facts aren't plain, or their key is too long.
            guard let size else { return try decide(realm, publicID, facts) }
            let lookup = keyBuffer.withUnsafeBytes { buffer -> (hash: UInt64, index: Int?) in
                let key = UnsafeRawBufferPointer(rebasing: buffer[..<size])
                let hash = StableHash.of(key)
                return (hash, self.index(of: key, hash: hash))
            }
            guard let index = lookup.index else {
                guard knownKinds.count + outcome.newKinds.count < evaluator.maximumKinds else {
                    return try decide(realm, publicID, facts)
                }
                return try decideFirst(realm, publicID, facts, keySize: size, hash: lookup.hash)
            }
            outcome.times[index] += 1
            // The kind is known, so a decision is needed only if the customer becomes an example.
            let highest = ranks[index] ?? rank(at: index)
            guard StableHash.of(publicID) <= highest else { return }
            guard let (customer, customerEffects) = try evaluated(realm, publicID, facts) else { return }
            outcome.tally.offer(customer, customerEffects.ifPromisesEnd)
            // After each new example, only customers with a lower rank can become examples.
            ranks[index] = min(
                highest,
                ExampleRanks(of: outcome.tally)
                    .highest(for: customerEffects.ifPromisesEnd, on: customer.place.platform))
        }

        /// Returns the index of a kind in `times`; nil if neither earlier pages nor this page found the kind.
        private func index(of key: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
            knownKinds.index(of: key, hash: hash)
                ?? outcome.newKinds.index(of: key, hash: hash).map { knownKinds.count + $0 }
        }

        /// Returns the kind with an index in `times`.
        private func kind(at index: Int) -> CustomerKinds.Kind {
            index < knownKinds.count ? knownKinds.all[index] : outcome.newKinds.all[index - knownKinds.count]
        }

        /// Computes and stores the rank up to which customers of a kind can become examples.
        private mutating func rank(at index: Int) -> UInt64 {
            let kind = kind(at: index)
            let highest = initialRanks.highest(for: kind.customerEffects.ifPromisesEnd, on: kind.place.platform)
            ranks[index] = highest
            return highest
        }

        /// Decides for the first customer of a kind. The other customers of the kind get the same effects.
        private mutating func decideFirst(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer, keySize: Int,
            hash: UInt64
        ) throws(StoreError) {
            guard let (customer, customerEffects) = try evaluated(realm, publicID, facts) else { return }
            let kind = CustomerKinds.Kind(customerEffects: customerEffects, place: customer.place)
            keyBuffer.withUnsafeBytes { buffer in
                outcome.newKinds.add(kind, as: UnsafeRawBufferPointer(rebasing: buffer[..<keySize]), hash: hash)
            }
            outcome.times.append(1)
            ranks.append(nil)
            outcome.tally.offer(customer, customerEffects.ifPromisesEnd)
        }

        /// Decides for a customer without a kind, and adds the effects to the tally.
        private mutating func decide(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) {
            if let (customer, customerEffects) = try evaluated(realm, publicID, facts) {
                outcome.tally.add(customer, customerEffects)
            }
        }

        /// Decides for a customer under both policies. Returns nil if a promise refers to a version of the policy that
        /// doesn't exist.
        private mutating func evaluated(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) -> (RehearsedCustomer, CustomerEffects)? {
            guard let realm = Realm(code: realm) else {
                throw .damaged("there is no environment with the number \(realm)")
            }
            let facts = try CustomerFacts(decoding: facts)
            var promises: [Promise] = []
            for promise in facts.promises {
                guard let policy = evaluator.policies[promise.policyVersion] else {
                    missingPolicy = promise.policyVersion
                    return nil
                }
                promises.append(
                    Promise(
                        entitlement: promise.entitlement, acquisition: promise.acquisition, policy: policy,
                        until: promise.until))
            }
            let evidence = facts.evidence(in: realm.environment)
            return (
                RehearsedCustomer(id: String(decoding: publicID, as: UTF8.self), evidence),
                evaluator.comparison.customerEffects(on: evidence, promises: promises)
            )
        }
    }
}
