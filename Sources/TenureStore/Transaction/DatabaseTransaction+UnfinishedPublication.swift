import TenureCore

/// A publication in effect that hasn't ended and restored all of its promises yet.
struct UnfinishedPublication: Sendable, Hashable {
    let publication: Int64
    /// The publication to which a rollback returned. What later ones ended counts again. For other publications, their
    /// own number.
    let former: Int64
    /// The value in `promises.ending` of the promises that it ends; 0 if it ends none.
    let draft: Int64

    /// The name under `progress`, with the three numbers as its value.
    static let name = "publication"
    fileprivate var text: String { "\(publication) \(former) \(draft)" }

    init(publication: Int64, former: Int64?, draft: Int64?) {
        self.publication = publication
        self.former = former ?? publication
        self.draft = draft ?? 0
    }

    init(_ text: String) throws(StoreError) {
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 3 else { throw .damaged("the note about an unfinished publication is invalid") }
        self.init(publication: numbers[0], former: numbers[1], draft: numbers[2])
    }
}

extension DatabaseTransaction {
    func unfinishedPublication() throws(StoreError) -> UnfinishedPublication? {
        try progress(UnfinishedPublication.name).map { text throws(StoreError) in try UnfinishedPublication(text) }
    }

    /// Notes that a publication has promises to end and to restore. Returns their numbers.
    func begin(_ unfinished: UnfinishedPublication) throws(StoreError) -> (ended: Int, restored: Int) {
        let ended = try session.row("SELECT count(*) FROM promises WHERE ending = $1", [.integer(unfinished.draft)])
        let restored = try session.row(
            "SELECT count(*) FROM promises WHERE ended_by > $1 AND ended_by < $2",
            [.integer(unfinished.former), .integer(unfinished.publication)])
        let counts = (Int(clamping: try ended?.integer(0) ?? 0), Int(clamping: try restored?.integer(0) ?? 0))
        if counts != (0, 0) { try setProgress(UnfinishedPublication.name, to: unfinished.text) }
        return counts
    }

    /// Returns the customers with promises that a publication still has to end or to restore, in the order of their
    /// numbers.
    func customers(awaiting unfinished: UnfinishedPublication) throws(StoreError) -> [SizedCustomer] {
        try session.allowLongStatements()
        let members = try session.integers(
            """
            SELECT customer FROM promises WHERE ended_by > $1 AND ended_by < $2
            UNION SELECT customer FROM promises WHERE ending = $3
            """, [.integer(unfinished.former), .integer(unfinished.publication), .integer(unfinished.draft)])
        return try sizes(of: Set(try roots(of: Set(members)).values).sorted())
    }

    /// Returns the customer as a publication leaves them. A transaction that locked the customer also ends and restores
    /// their promises, and adds events to the timeline.
    ///
    /// So each decision and each change sees the publication as a whole, whether its turn has come or not.
    func settled(
        _ customer: Customer, after unfinished: UnfinishedPublication, isLocked: Bool
    ) throws(StoreError) -> Customer {
        let draft = SQLValue.integer(unfinished.draft)
        var (ended, restored): (Set<String>, [StoredPromise]) = ([], [])
        for member in try group(of: customer.id) {
            let ending = try promises("customer = $1 AND ending = $2", [.integer(member), draft])
            ended.formUnion(ending.map(\.entitlement))
            let back = try promises(of: member, endedAfter: unfinished.former, before: unfinished.publication)
            restored += back
            guard isLocked else { continue }
            if !ending.isEmpty {
                try session.execute(
                    "UPDATE promises SET ended_by = $1, ending = NULL WHERE customer = $2 AND ending = $3",
                    [.integer(unfinished.publication), .integer(member), draft])
            }
            if !back.isEmpty {
                try session.execute(
                    "UPDATE promises SET ended_by = NULL WHERE customer = $1 AND ended_by > $2 AND ended_by < $3",
                    [.integer(member), .integer(unfinished.former), .integer(unfinished.publication)])
            }
        }
        guard !ended.isEmpty || !restored.isEmpty else { return customer }
        var facts = customer.facts
        facts.removePromises(of: ended)
        facts.add(restored)
        guard isLocked else { return customer.knowing(facts) }
        try append(.promisesEnded, of: ended, to: customer, by: unfinished)
        try append(.promisesRestored, of: Set(restored.map(\.entitlement)), to: customer, by: unfinished)
        return try update(customer, to: facts)
    }

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

    /// Removes the note if nothing is left to do. Returns whether that is so.
    func end(_ unfinished: UnfinishedPublication) throws(StoreError) -> Bool {
        guard try unfinishedPublication() == unfinished else { return true }
        guard try customers(awaiting: unfinished).isEmpty else { return false }
        try setProgress(UnfinishedPublication.name, to: nil)
        return true
    }
}
