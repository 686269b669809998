import Foundation
import TenureCore

/// Results about customers with large facts (`CustomerFacts`), computed between transactions, so that other writers
/// don't have to wait.
///
/// For example, support merges two customers with 2,000 purchases each. The transaction runs several times:
///
/// 1. The transaction asks for the decoded facts of the first customer. These facts are missing, so the transaction
///    ends without a change, and `prepare` decodes them.
/// 2. The transaction finds the facts of the first customer, asks for those of the second, and ends again.
/// 3. The transaction asks for the facts of both together, and ends. `prepare` combines and encodes them.
/// 4. The transaction finds all results, writes and commits.
///
/// Each result is kept with what it was computed from. If a customer changed in the meantime, the former result no
/// longer fits, and a new one is computed. Small results are computed inside the transaction.
final class LargeFacts: Sendable {
    /// The results so far, and the result that the last attempt missed.
    private struct State: Sendable {
        /// Facts with their bytes, for decoding and encoding.
        var known: [EncodedFacts] = []
        var combinations: [(inputs: Combination, result: CustomerFacts)] = []
        /// What the publication of a policy does to customers.
        var impacts: [(customer: CustomerToEvaluate, impact: PublicationImpact)] = []
        /// What the signed entries (artifacts and notifications) of each member (row of `customers`) prove, by the
        /// member's row ID.
        var provenFacts: [Int64: Rederivation.ProvenFacts]
        /// The result that the last attempt missed; nil if it missed none.
        var missingResult: MissingResult?
    }

    private let state: Locked<State>
    /// Verifies signed entries; nil for changes that don't separate customers.
    let rederivation: Rederivation?

    /// The maximum number of attempts. A change needs a few results for each account of a customer, and more only if
    /// the customer changes meanwhile.
    static let maximumAttempts = 10 * DatabaseTransaction.maximumMembers
    /// The largest sum of a member's proven facts and unverified entries with which a transaction verifies the entries
    /// itself. Beyond it, they are verified between transactions, so that other writers don't have to wait.
    static let maximumEntriesProvenInTransaction = 8

    /// Facts that follow from the facts of several customers.
    enum Combination: Hashable, Sendable {
        /// The facts of several customers together, as for a merge. `isComplete` is the value of `purchasesAreComplete`
        /// in the result.
        case sum(CustomerFacts, [CustomerFacts], isComplete: Bool)
        /// The proofs, purchases and renewals in the first facts that none of the others has, as after a split.
        case remainder(CustomerFacts, without: [CustomerFacts])

        var result: CustomerFacts {
            switch self {
            case .sum(var facts, let others, let isComplete):
                facts.add(others)
                facts.purchasesAreComplete = isComplete
                return facts
            case .remainder(let facts, let parts): return facts.remainder(of: parts)
            }
        }

        /// Whether the result is computed between transactions.
        var isLarge: Bool {
            let count =
                switch self {
                case .sum(let facts, let others, _): others.reduce(facts.entryCount) { $0 + $1.entryCount }
                case .remainder(let facts, _): facts.entryCount
                }
            return count > DatabaseTransaction.maximumEntriesInOnePiece
        }
    }

    /// A result to compute after the transaction.
    enum MissingResult: Sendable {
        /// The facts that a row stores as these bytes.
        case decoded([UInt8])
        /// The bytes in which a row stores these facts.
        case encoded(CustomerFacts)
        case combination(Combination)
        /// What the signed entries of the member with this row ID prove.
        case provenFacts(Int64)
        /// What a publication does to a customer. The function computes it.
        case impact(CustomerToEvaluate, Evaluate)
    }

    /// Returns what a publication does to a customer: what they gain or lose under the policy to be published.
    typealias Evaluate = @Sendable (CustomerToEvaluate) throws(StoreError) -> PublicationImpact

    /// - Parameter rederivation: verifies signed entries, for changes that separate customers; nil for other changes.
    init(_ rederivation: Rederivation? = nil) {
        self.rederivation = rederivation
        state = Locked(State(provenFacts: rederivation?.provenFacts ?? [:]))
    }

    /// Adds facts that a transaction will read or write.
    func add(_ facts: CustomerFacts) {
        let facts = EncodedFacts(facts)
        state.withLock { $0.known.append(facts) }
    }

    // MARK: In a transaction

    /// Returns the decoded facts; nil if they are small, so that the caller decodes them itself. Throws if they are
    /// large and weren't prepared.
    func decoded(_ bytes: [UInt8]) throws(StoreError) -> EncodedFacts? {
        guard bytes.count > DatabaseTransaction.maximumFactsBytesPerTransaction else { return nil }
        if let found = state.withLock({ $0.known.first { $0.hasSameBytes(as: bytes) } }) { return found }
        throw miss(.decoded(bytes))
    }

    /// Returns the encoded facts; nil if they are small, so that the caller encodes them itself. Throws if they are
    /// large and weren't prepared.
    func encoded(_ facts: CustomerFacts) throws(StoreError) -> EncodedFacts? {
        guard facts.entryCount > DatabaseTransaction.maximumEntriesInOnePiece else { return nil }
        if let found = state.withLock({ $0.known.last { $0.facts == facts } }) { return found }
        throw miss(.encoded(facts))
    }

    /// Returns what the publication of a policy does to a customer that changed since the publication's evaluation.
    /// Throws if the customer's facts are large and the result wasn't prepared.
    func impact(
        on customer: CustomerToEvaluate, _ evaluate: @escaping Evaluate
    ) throws(StoreError) -> PublicationImpact {
        guard customer.customer.facts.entryCount > DatabaseTransaction.maximumEntriesInOnePiece
        else { return try evaluate(customer) }
        if let found = state.withLock({ $0.impacts.first { $0.customer == customer } }) { return found.impact }
        throw miss(.impact(customer, evaluate))
    }

    /// Returns the combined facts. Throws if they are large and weren't prepared, so that the transaction ends.
    func result(of inputs: Combination) throws(StoreError) -> CustomerFacts {
        guard inputs.isLarge else { return inputs.result }
        if let found = state.withLock({ $0.combinations.first { $0.inputs == inputs } }) { return found.result }
        throw miss(.combination(inputs))
    }

    /// Returns what the signed entries of a member prove, up to the last entry that was verified (`end`).
    func provenFacts(of member: Int64) -> Rederivation.ProvenFacts {
        state.withLock { $0.provenFacts[member] } ?? Rederivation.ProvenFacts()
    }

    /// Remembers which result is missing, so that `prepare` computes it. Returns the error with which the transaction
    /// ends.
    func miss(_ missing: MissingResult) -> StoreError {
        state.withLock { $0.missingResult = missing }
        return .failed("the facts of a large customer aren't prepared; try again")
    }

    // MARK: Between transactions

    /// Computes the result that the last transaction missed. Returns false if no result was missing.
    fileprivate func prepare(in store: Store, at now: Date) async throws(StoreError) -> Bool {
        let missing = state.withLock { state in
            defer { state.missingResult = nil }
            return state.missingResult
        }
        switch missing {
        case nil: return false
        case .decoded(let bytes):
            let facts = EncodedFacts(try CustomerFacts(decoding: bytes), bytes: bytes)
            state.withLock { $0.known.append(facts) }
        case .encoded(let facts): add(facts)
        case .impact(let customer, let evaluate):
            let impact = try evaluate(customer)
            state.withLock { $0.impacts.append((customer, impact)) }
        case .combination(let inputs):
            let facts = inputs.result
            // The transaction writes the sum.
            if case .sum = inputs { add(facts) }
            state.withLock { $0.combinations.append((inputs, facts)) }
        case .provenFacts(let member):
            guard let rederivation else { return false }
            var proven = self.provenFacts(of: member)
            var (pages, end) = ([CustomerFacts](), proven.end)
            while true {
                let entries = try await store.read(at: now) { [end] in
                    try $0.signedEntries(of: member, after: end, limit: Rederivation.pageSize)
                }
                guard let entries, !entries.isEmpty else { break }
                pages.append(try rederivation.prove(entries))
                end = entries.end
            }
            proven.add(pages, upTo: end)
            state.withLock { [proven] in $0.provenFacts[member] = proven }
        }
        return true
    }
}

extension Store {
    /// Runs one transaction that gets results about large customers from `largeFacts`. Repeats it until no result is
    /// missing. Attempts before that change nothing.
    func write<Value: Sendable>(
        with largeFacts: LargeFacts, at now: Date, locking keys: [LockKey], _ body: @escaping TransactionBody<Value>
    ) async throws(StoreError) -> Value {
        let perform: @Sendable (DatabaseTransaction) throws -> Value = { transaction in
            var transaction = transaction
            transaction.largeFacts = largeFacts
            return try body(transaction)
        }
        for number in 0..<LargeFacts.maximumAttempts {
            do {
                // The first attempt is enough for most customers. Between further attempts, other transactions can
                // write.
                return number == 0
                    ? try await write(at: now, locking: keys, perform)
                    : try await writePiece(at: now, locking: keys, perform)
            } catch {
                // If no result is missing, the error has another reason.
                guard try await largeFacts.prepare(in: self, at: now) else { throw error }
            }
        }
        throw .busy
    }
}

extension CustomerFacts {
    /// The number of entries that decoding and combining process.
    var entryCount: Int { proofs.count + purchases.count + renewals.count }

    /// Returns the proofs, purchases and renewals in these facts that none of `parts` has.
    func remainder(of parts: [CustomerFacts]) -> CustomerFacts {
        var known = CustomerFacts()
        known.add(parts)
        let (proofs, purchases, renewals) = (Set(known.proofs), Set(known.purchases), Set(known.renewals))
        var rest = CustomerFacts()
        rest.proofs = self.proofs.filter { !proofs.contains($0) }
        rest.purchases = self.purchases.filter { !purchases.contains($0) }
        rest.renewals = self.renewals.filter { !renewals.contains($0) }
        return rest
    }
}

extension DatabaseTransaction {
    /// Returns facts that follow from the facts of several customers.
    func result(of inputs: LargeFacts.Combination) throws(StoreError) -> CustomerFacts {
        try largeFacts?.result(of: inputs) ?? inputs.result
    }
}
