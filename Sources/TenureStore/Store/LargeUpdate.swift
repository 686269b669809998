/// An update that is too large for one transaction: it names thousands of identities, adds thousands of artifacts, or
/// concerns a customer with thousands of purchases.
///
/// The update is written in pieces, each in a transaction, so that other updates wait for one piece at most. For a
/// receipt with 3,000 purchases, an attempt does this:
///
/// 1. Find the customer whom the receipt names, or create one.
/// 2. If the receipt names several customers, merge the others into this customer.
/// 3. Decide what to add to the customer, between transactions.
/// 4. Write the identities of the purchases, then all but the last artifacts, 64 in each piece. Readers ignore these
///    artifacts until the last step.
/// 5. Write the facts and the remaining artifacts. From here on, all artifacts of the update count.
///
/// If the customer changed since the decision, the next attempt begins with step 1 and keeps the artifacts that were
/// written.
struct LargeUpdate<Outcome: Sendable>: Sendable {
    let store: Store
    let plan: CustomerUpdatePlan
    /// Decides what to add to the customer (nil for a new customer), outside of transactions. It may run again.
    let decide: @Sendable (Customer?) -> (CustomerUpdate, Outcome)

    /// Returns the customer after the update; nil if the update no longer applies, for example because the customer was
    /// erased. Throws `busy` if the customer changed during every attempt.
    func run() async throws(StoreError) -> (customer: Customer, outcome: Outcome)? {
        guard let mostReliable = plan.identities.min(by: { $0.kind < $1.kind })
        else { throw .defect("an update names no customer") }
        // Concurrent large updates of one customer would force each other to start again.
        return try await store.namedLocks.withLock(LockKey.identity(mostReliable, plan.realm).text) {
            () throws(StoreError) in
            var progress = Progress()
            // Named locks exist within one process only, so an update of another process may interfere.
            let done = try await store.retrying { () throws(StoreError) in try await attempt(&progress) }
            if done != nil, progress.hasLeftovers { try await store.removeLeftovers(at: plan.now) }
            return done
        }
    }

    /// What earlier attempts have written, so that the next attempt can continue with it.
    private struct Progress {
        /// The random number in `artifacts.update_id` of the artifacts that this update wrote.
        var updateID = Int64.random(in: 1 ... .max)
        /// The row ID of the member (row of `customers`) to which the written artifacts belong; nil before the first
        /// piece of artifacts.
        var member: Int64?
        /// The SHA-256 hashes of the written artifacts.
        var writtenHashes: Set<[UInt8]> = []
        /// The row ID of the customer that this update created; nil if it found an existing customer.
        var newCustomer: Int64?
        /// Whether some written artifacts were abandoned. They are removed when the update has ended.
        var hasLeftovers = false

        /// Abandons the artifacts written so far: a later update takes them, or they are removed.
        mutating func restart() {
            hasLeftovers = hasLeftovers || member != nil
            (updateID, member, writtenHashes) = (.random(in: 1 ... .max), nil, [])
        }
    }

    /// The customer after the update; nil if the update no longer applies.
    private typealias Done = (customer: Customer, outcome: Outcome)?

    /// Runs the steps in the type's comment once. Returns `unfinished` if another update interfered.
    private func attempt(_ progress: inout Progress) async throws(StoreError) -> Attempt<Done> {
        // Step 1: the customer.
        guard case .done(var found) = try await findSubject(newCustomer: progress.newCustomer) else {
            // One of the identities names a customer who is being erased. After the erasure, it names no customer.
            try await store.removeLeftovers(at: plan.now)
            return .unfinished
        }
        if found == nil {
            guard case .done(let made) = try await createSubject() else { return .unfinished }
            progress.newCustomer = made?.customer.id
            found = made
        }
        guard var subject = found else { return .done(nil) }
        // Step 2: other customers whom the identities name.
        if !subject.identitiesOfOthers.isEmpty {
            guard let joined = try await join(subject) else { return .unfinished }
            subject.customer = joined
        }
        // Steps 3 to 5.
        let prepared = try await prepare(subject)
        guard try await writeIdentities(subject.unknownIdentities, for: prepared) else { return .unfinished }
        guard let artifacts = try await writeArtifacts(of: prepared, &progress) else {
            progress.restart()
            return .unfinished
        }
        let attempt = try await finish(prepared, lastArtifacts: artifacts, progress)
        // The next attempt continues with the written artifacts, unless another update took some of them, or they were
        // removed.
        if case .unfinished = attempt, progress.member != nil, try await !isUnderWay(progress) { progress.restart() }
        return attempt
    }

    // MARK: The customer

    /// The customer whom the update is about, and what the update's identities name.
    private struct Subject {
        var customer: Customer
        /// The first identity, by `Identity.Kind`, that names the customer; nil for a new customer.
        let identity: Identity?
        /// For each other customer whom the identities name, the first identity by `Identity.Kind`.
        let identitiesOfOthers: [Identity]
        /// Identities that name no customer yet.
        let unknownIdentities: [Identity]
    }

    /// Runs a transaction that reads. Large updates of this process read one after the other, so that other readers
    /// find a free connection.
    private func read<Value: Sendable>(_ body: @escaping TransactionBody<Value>) async throws(StoreError) -> Value {
        try await store.namedLocks.withLock(NamedLocks.reading) { () throws(StoreError) in
            try await store.read(at: plan.now, body)
        }
    }

    /// Writes one piece.
    private func write<Value: Sendable>(
        locking identities: some Collection<Identity>, _ keys: [LockKey] = [], _ body: @escaping TransactionBody<Value>
    ) async throws(StoreError) -> Value {
        try await store.writePiece(at: plan.now, locking: identities.keys(in: plan.realm) + keys, body)
    }

    /// Returns the customer that the identities name, or else the customer that an earlier attempt created; nil if
    /// neither exists. Returns `unfinished` while one of the named customers is being erased.
    private func findSubject(newCustomer: Int64?) async throws(StoreError) -> Attempt<Subject?> {
        let plan = plan
        return try await read { transaction in
            let named = try transaction.resolve(plan.identities, in: plan.realm)
            guard !named.includesErased else { return .unfinished }
            let found = try transaction.find(named, proving: plan.acquisition, forUpdate: false, limit: 1).first
            var customer = found
            if found == nil, let newCustomer { customer = try transaction.customer(newCustomer) }
            guard let customer else { return .done(nil) }
            let mostReliable = named.knownIdentities.first { $0.survivor == customer.id }
            return .done(
                Subject(
                    customer: customer, identity: found == nil ? nil : mostReliable?.identity,
                    identitiesOfOthers: named.mostReliableIdentityOfEach(except: customer.id),
                    unknownIdentities: named.unknownIdentities))
        }
    }

    /// Creates a customer, unless another update has just created the customer. Stores and locks the first identities
    /// by `Identity.Kind`, as many as one transaction may lock, so that no other transaction creates a customer for one
    /// of them. The result is nil if the update no longer applies.
    private func createSubject() async throws(StoreError) -> Attempt<Subject?> {
        let plan = plan
        let identities = plan.identities.sorted { $0.kind < $1.kind }
        let first = Array(identities.prefix(DatabaseTransaction.maximumKeys - plan.otherKeys.count))
        return try await write(locking: first, plan.otherKeys) { transaction in
            guard try transaction.stillApplies(plan) else { return .done(nil) }
            let named = try transaction.resolve(first, in: plan.realm)
            guard !named.includesErased else { return .unfinished }
            let found = try transaction.findCustomer(named, proving: plan.acquisition)
            var update = CustomerUpdate(of: found.customer)
            if first.contains(where: { $0.kind == .unbound }) {
                update.setUnbound()
                update.entitlementChange = .never
            }
            let customer = try transaction.save(update, of: found)
            return .done(
                Subject(
                    customer: customer, identity: nil, identitiesOfOthers: [],
                    unknownIdentities: Array(identities.dropFirst(first.count))))
        }
    }

    // MARK: Joining customers

    /// How many customers one piece joins.
    private static var customersPerPiece: Int { 20 }

    /// Merges the other customers whom the identities name into the customer of `subject`, 20 in each piece. Returns
    /// the merged customer; nil if one of the customers changed in the meantime.
    private func join(_ subject: Subject) async throws(StoreError) -> Customer? {
        let (plan, others) = (plan, subject.identitiesOfOthers)
        var customer = subject.customer
        let memberCount = try await read { [customer] transaction in try transaction.group(of: customer.id).count }
        // A customer can't have more than `maximumMembers` members, and each of the others adds at least one.
        let candidates = Array(others.prefix(max(0, DatabaseTransaction.maximumMembers - memberCount)))
        for chunk in candidates.chunks(of: Self.customersPerPiece) {
            // Each piece includes identities that name `customer`, so the other customers are merged into it.
            let lead = [plan.identities.min { $0.kind < $1.kind }, subject.identity].compactMap(\.self)
            let identities = Array(Set(lead + chunk)).sorted { ($0.kind, $0.value) < ($1.kind, $1.value) }
            var attempt = try await write(locking: identities) { transaction -> Attempt<Customer?> in
                let named = try transaction.resolve(identities, in: plan.realm)
                guard named.factsSize <= DatabaseTransaction.maximumFactsBytesPerTransaction else { return .unfinished }
                let customers = try transaction.find(named, proving: plan.acquisition)
                return .done(try transaction.joinCustomers(customers).customer)
            }
            // The facts are too large to combine them inside the transaction.
            if case .unfinished = attempt { attempt = .done(try await joinLarge(identities, into: customer)) }
            guard case .done(let joined?) = attempt, joined.id == customer.id else { return nil }
            customer = joined.with(member: customer.member)
        }
        return customer
    }

    /// Merges the customers whom the identities name into `customer`. The facts are large, so they are combined before
    /// the transaction. Returns the merged customer; nil if one of the customers changed in the meantime.
    private func joinLarge(_ identities: [Identity], into customer: Customer) async throws(StoreError) -> Customer? {
        let plan = plan
        let prepared = try await read { transaction -> PreparedJoining? in
            let named = try transaction.resolve(identities, in: plan.realm)
            let customers = try transaction.find(named, proving: plan.acquisition, forUpdate: false)
            return try transaction.joining(customers).map { PreparedJoining($0) }
        }
        // Nil if none of these customers can be merged.
        guard let prepared else { return customer }
        return try await write(locking: identities) { transaction -> Customer? in
            var transaction = transaction
            transaction.knownFacts = prepared.knownFacts
            let named = try transaction.resolve(identities, in: plan.realm)
            let customers = try transaction.find(named, proving: plan.acquisition)
            guard let joining = try transaction.joining(customers), prepared.matches(joining) else { return nil }
            return try transaction.join(joining, as: prepared.encoded.facts, encoded: prepared.encoded)
        }
    }

    // MARK: Pieces

    /// How many identities one piece writes, if syncs find no customer by them. Such identities need no lock.
    private static var otherIdentitiesPerPiece: Int { 2 * DatabaseTransaction.identitiesPerStatement }
    /// The number of artifacts in one piece. An update with at most this number writes all artifacts in the last
    /// transaction.
    private static var artifactsPerPiece: Int { 64 }
    /// How many artifacts the last transaction writes, if the update has more than `artifactsPerPiece`.
    private static var artifactsOfLastPiece: Int { 32 }

    /// Decides what to add to the customer, and encodes the facts for the last transaction.
    private func prepare(_ subject: Subject) async throws(StoreError) -> PreparedUpdate<Outcome> {
        let customer = subject.customer
        // Reads whether the purchases of the customer's other accounts are all known: `decide` needs it.
        let former =
            try await read { transaction in try transaction.withCompletenessOfOtherAccounts(customer) } ?? customer
        let (update, outcome) = decide(former)
        return PreparedUpdate(of: former, foundBy: subject.identity, update, outcome)
    }

    /// Writes the identities, piece by piece. Returns false if one of them belongs to another customer by now, or if
    /// the customer was erased or merged; otherwise true.
    ///
    /// - Parameter unknown: the identities in the plan that named no customer.
    private func writeIdentities(
        _ unknown: [Identity], for prepared: PreparedUpdate<Outcome>
    ) async throws(StoreError) -> Bool {
        let former = prepared.formerCustomer
        // First, write the identities by which syncs find the customer. Each belongs to one customer only.
        for piece in unknown.chunks(of: DatabaseTransaction.maximumKeys) {
            guard try await writeIdentityPiece(Array(piece), for: former, exclusively: true) else { return false }
        }
        // Then, write the other identities, such as the IDs of renewals. Several customers may have the same identity
        // of these kinds.
        let planned = Set(plan.identities)
        let realm = plan.realm
        var others = prepared.update.identities.filter { !planned.contains($0) }
        // Skipped for an unbound customer (`DatabaseTransaction`): these identities name the customers to whom it is
        // linked.
        if !plan.identities.contains(where: { $0.kind == .unbound }) {
            others += prepared.update.facts.renewals(beyond: former.facts)
            others += try await read { [plan] transaction in
                try transaction.resolve(plan.identities, in: realm).purchases(ofOthersThan: [former.id])
                    .map { Identity(sharedPurchase: $0, of: former.member) }
            }
        }
        guard !others.isEmpty else { return true }
        let new = try await read { [others] transaction in
            let known = try transaction.members(by: others, in: realm)
            return others.filter { known[$0] == nil }
        }
        for piece in new.chunks(of: Self.otherIdentitiesPerPiece) {
            guard try await writeIdentityPiece(Array(piece), for: former, exclusively: false) else { return false }
        }
        return true
    }

    /// Writes one piece of identities. Returns false if the customer was erased or merged; otherwise true.
    ///
    /// - Parameter exclusively: whether each identity may belong to one customer only. If so, the identities are
    ///   locked, and the result is also false if one of them is stored already.
    private func writeIdentityPiece(
        _ identities: [Identity], for customer: Customer, exclusively: Bool
    ) async throws(StoreError) -> Bool {
        let realm = plan.realm
        return try await write(locking: exclusively ? identities : []) { transaction in
            guard try transaction.stillExists(customer) else { return false }
            let count = try transaction.insert(identities, ofMember: customer.member, in: realm)
            return !exclusively || count == identities.count
        }
    }

    /// Writes all artifacts except the last ones, and returns the last ones. Returns nil if the customer was erased or
    /// merged, or if another update took some of the artifacts.
    private func writeArtifacts(
        of prepared: PreparedUpdate<Outcome>, _ progress: inout Progress
    ) async throws(StoreError) -> [Artifact]? {
        let (former, artifacts) = (prepared.formerCustomer, prepared.update.artifacts)
        guard !artifacts.isEmpty || progress.member != nil else { return [] }
        let new = try await read { transaction -> [Artifact] in
            let known = try transaction.knownArtifacts(among: artifacts, of: former.member)
            return artifacts.filter { known[$0.sha256] != .counts }
        }
        if let member = progress.member {
            // After another decision, the update may be about another member, or have fewer artifacts.
            let hashes = Set(artifacts.map(\.sha256))
            if member != former.member || !progress.writtenHashes.isSubset(of: hashes) { progress.restart() }
        }
        let unwritten = new.filter { !progress.writtenHashes.contains($0.sha256) }
        guard unwritten.count > Self.artifactsPerPiece else { return unwritten }
        for piece in Array(unwritten.dropLast(Self.artifactsOfLastPiece)).chunks(of: Self.artifactsPerPiece) {
            let (updateID, isFirst) = (progress.updateID, progress.member == nil)
            let isWritten = try await write(locking: []) { transaction in
                guard try transaction.stillExists(former) else { return false }
                if isFirst { try transaction.begin(updateID, of: former.member) }
                guard try transaction.isUnderWay(updateID, of: former.member) else { return false }
                try transaction.insert(Array(piece), of: former, isNew: false, updateID: updateID)
                return true
            }
            guard isWritten else { return nil }
            progress.member = former.member
            progress.writtenHashes.formUnion(piece.map(\.sha256))
        }
        return Array(unwritten.suffix(Self.artifactsOfLastPiece))
    }

    /// Whether the update can still be finished with the artifacts written so far: the artifacts weren't removed, and
    /// no other update took one of them.
    private func isUnderWay(_ progress: Progress) async throws(StoreError) -> Bool {
        guard let member = progress.member else { return true }
        return try await read { transaction in try transaction.isUnderWay(progress.updateID, of: member) }
    }

    // MARK: The last transaction

    /// Writes the facts and the last artifacts, and makes all artifacts count. Returns `unfinished` if the customer
    /// changed since the decision, or another update took some of the artifacts.
    private func finish(
        _ prepared: PreparedUpdate<Outcome>, lastArtifacts: [Artifact], _ progress: Progress
    ) async throws(StoreError) -> Attempt<Done> {
        let plan = plan
        let (updateID, member) = (progress.updateID, progress.member)
        return try await write(locking: prepared.identity.map { [$0] } ?? [], plan.otherKeys) { transaction in
            guard try transaction.stillApplies(plan) else { return .done(nil) }
            var transaction = transaction
            transaction.knownFacts = [prepared.formerCustomer.id: prepared.knownFacts]
            guard let former = try transaction.unchanged(prepared, in: plan.realm) else { return .unfinished }
            if let member, try !transaction.finish(updateID, of: member) { return .unfinished }
            let customer = try transaction.write(prepared.update, of: former, in: plan.realm, encoded: prepared.encoded)
            try transaction.record(prepared.update, of: customer, former: former, artifacts: lastArtifacts)
            try transaction.complete(plan, for: customer)
            return .done((customer, prepared.outcome))
        }
    }
}
