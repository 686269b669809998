/// A publication in effect that still has promises (`StoredPromise`) to end or to restore. `Store.finishPublication`
/// does that after the policy was published.
struct UnfinishedPublication: Sendable, Hashable {
    /// The ID of the publication.
    let publication: Int64
    /// For a rollback, the ID of the publication to which it returned: the promises that later publications ended are
    /// restored. For a publication that restores nothing, its own ID, so that no ended promise is in the range.
    let restoringAfter: Int64
    /// The value in `promises.ending` of the promises that the publication ends; 0 if it ends none.
    let mark: Int64

    /// The name of the row that stores it in the table `progress`, as three numbers.
    static let name = "publication"
    fileprivate var text: String { "\(publication) \(restoringAfter) \(mark)" }

    init(publication: Int64, restoringAfter: Int64?, mark: Int64?) {
        self.publication = publication
        self.restoringAfter = restoringAfter ?? publication
        self.mark = mark ?? 0
    }

    init(_ text: String) throws(StoreError) {
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 3 else { throw .damaged("the row `\(Self.name)` of `progress` isn't three numbers") }
        self.init(publication: numbers[0], restoringAfter: numbers[1], mark: numbers[2])
    }
}

extension DatabaseTransaction {
    /// Returns the publication that still has promises to end or to restore. Nil if there is no such publication.
    func unfinishedPublication() throws(StoreError) -> UnfinishedPublication? {
        try storedValue(named: UnfinishedPublication.name).map { text throws(StoreError) in
            try UnfinishedPublication(text)
        }
    }

    /// Stores that a publication still has promises to end or to restore, if there are any. Returns how many promises
    /// it ends, and how many it restores.
    func begin(_ unfinished: UnfinishedPublication) throws(StoreError) -> (ended: Int, restored: Int) {
        let ended = try session.count("SELECT count(*) FROM promises WHERE ending = $1", [.integer(unfinished.mark)])
        let restored = try session.count(
            "SELECT count(*) FROM promises WHERE ended_by > $1 AND ended_by < $2",
            [.integer(unfinished.restoringAfter), .integer(unfinished.publication)])
        if ended + restored > 0 { try setStoredValue(named: UnfinishedPublication.name, to: unfinished.text) }
        return (ended, restored)
    }

    /// Returns the customers with promises that a publication still has to end or to restore, in the order of their row
    /// IDs.
    func customers(awaiting unfinished: UnfinishedPublication) throws(StoreError) -> [SizedCustomer] {
        try session.allowLongStatements()
        let members = try session.integers(
            """
            SELECT customer FROM promises WHERE ended_by > $1 AND ended_by < $2
            UNION SELECT customer FROM promises WHERE ending = $3
            """, [.integer(unfinished.restoringAfter), .integer(unfinished.publication), .integer(unfinished.mark)])
        return try sizes(of: Set(try survivors(of: Set(members)).values).sorted())
    }

    /// Returns the customer with the promises that they have once the publication is finished. So each decision sees
    /// the whole publication, even before `Store.finishPublication` reaches the customer.
    ///
    /// - Parameter isLocked: whether the transaction has locked the customer. If so, this also ends and restores the
    ///   stored promises, and adds events to the timeline.
    func applying(
        _ unfinished: UnfinishedPublication, to customer: Customer, isLocked: Bool
    ) throws(StoreError) -> Customer {
        let mark = SQLValue.integer(unfinished.mark)
        var (ended, restored): (Set<String>, [StoredPromise]) = ([], [])
        let restoredCondition = "customer = $1 AND ended_by > $2 AND ended_by < $3"
        for member in try group(of: customer.id) {
            let ending = try promises("customer = $1 AND ending = $2", [.integer(member), mark])
            ended.formUnion(ending.map(\.entitlement))
            let bounds = [member, unfinished.restoringAfter, unfinished.publication].map { SQLValue.integer($0) }
            let restoring = try promises(restoredCondition, bounds)
            restored += restoring
            guard isLocked else { continue }
            if !ending.isEmpty {
                try session.execute(
                    "UPDATE promises SET ended_by = $1, ending = NULL WHERE customer = $2 AND ending = $3",
                    [.integer(unfinished.publication), .integer(member), mark])
            }
            if !restoring.isEmpty {
                try session.execute("UPDATE promises SET ended_by = NULL WHERE \(restoredCondition)", bounds)
            }
        }
        guard !ended.isEmpty || !restored.isEmpty else { return customer }
        var facts = customer.facts
        facts.removePromises(of: ended)
        facts.add(restored)
        guard isLocked else { return customer.replacingFacts(with: facts) }
        try append(.promisesEnded, of: ended, to: customer, by: unfinished)
        try append(.promisesRestored, of: Set(restored.map(\.entitlement)), to: customer, by: unfinished)
        return try update(customer, to: facts)
    }

    /// Appends an event about promises that the publication ended or restored.
    private func append(
        _ kind: StoredEvent.Kind, of entitlements: Set<String>, to customer: Customer,
        by unfinished: UnfinishedPublication
    ) throws(StoreError) {
        guard !entitlements.isEmpty, let publication = try publication(unfinished.publication) else { return }
        var detail = ["publication": String(publication.id), "version": String(publication.version)]
        detail["reason"] = publication.reason
        detail["entitlements"] = entitlements.sorted().joined(separator: ", ")
        try append(kind, to: customer, actor: publication.actor, detail: detail)
    }

    /// Stores that the publication is finished, if it has no promises left to end or to restore. Returns whether it is
    /// finished.
    func end(_ unfinished: UnfinishedPublication) throws(StoreError) -> Bool {
        // Another process may have finished it.
        guard try unfinishedPublication() == unfinished else { return true }
        guard try customers(awaiting: unfinished).isEmpty else { return false }
        try setStoredValue(named: UnfinishedPublication.name, to: nil)
        return true
    }
}
