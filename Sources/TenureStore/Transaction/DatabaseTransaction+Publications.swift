import TenureJSON

/// Publishes policies: puts a version of the policy into effect. A publication may end *promises*: rights that were
/// stored so that later policies keep them (`StoredPromise`).
extension DatabaseTransaction {
    /// The publication in effect; nil in a new database.
    package func publication() throws(StoreError) -> StoredPublication? {
        try publications("ORDER BY id DESC LIMIT 1", []).first
    }

    /// The number of the policy version in effect; nil in a new database.
    func publishedVersion() throws(StoreError) -> Int64? {
        try session.row("SELECT policy FROM publications ORDER BY id DESC LIMIT 1")?.integer(0)
    }

    /// The publication with this ID; nil if there is no such publication.
    func publication(_ id: Int64) throws(StoreError) -> StoredPublication? {
        try publications("WHERE id = $1", [.integer(id)]).first
    }

    /// All publications, the oldest first.
    package func publications() throws(StoreError) -> [StoredPublication] { try publications("ORDER BY id", []) }

    /// Returns the publication in effect. In a new database, publishes this policy.
    package func start(with compiled: [UInt8], sha256: [UInt8]) throws(StoreError) -> StoredPublication {
        if let publication = try publication() { return publication }
        let version = try record(policy: compiled, sha256: sha256)
        let id = try insert(
            RequestedPublication(
                compiled: compiled, sha256: sha256, action: .start, at: now, actor: "service", reason: nil, base: 0),
            of: version, StoredPublication.Counts())
        try queue(Message(published: version, sha256, by: .start, former: nil), about: nil)
        return StoredPublication(id: id, version: version, action: .start, at: now.toMillisecond, actor: "service")
    }

    /// Checks that a publication's evaluation (what the policy does to all customers) is still usable, evaluates the
    /// customers that changed since then, and puts the policy into effect. From here on, no customer changes until the
    /// transaction ends.
    ///
    /// Refuses the publication as `overtaken` if another publication took effect since the rehearsal (the dry run).
    /// Refuses it as `behind` if an earlier publication is unfinished, if more than `limit` customers changed, or if
    /// more than `limit` customers still have promises to mark (`DatabaseTransaction+PromiseMarks.swift`).
    func publish(
        _ request: RequestedPublication, after evaluation: PublicationEvaluation, limit: Int,
        evaluating evaluate: (CustomerToEvaluate) throws(StoreError) -> PublicationImpact
    ) throws(StoreError) -> PublicationOutcome {
        try session.allowLongStatements()
        try blockWriters()
        guard let former = try publication(), former.id == request.base else { return .overtaken }
        guard try unfinishedPublication() == nil else { return .behind }
        let changes = try changes(since: evaluation.position)
        guard changes.customers.count <= limit, !request.endsPromises || evaluation.unmarkedCustomers.count <= limit
        else { return .behind }
        var evaluation = evaluation
        evaluation.removeImpacts(of: changes)
        for id in changes.customers {
            guard let subject = try customerToEvaluate(id, restoringAfter: request.restoringAfter) else { continue }
            evaluation.update(subject, try evaluate(subject))
        }
        return try publish(request, as: evaluation, former: former.version)
    }

    /// Puts the policy into effect, unless more customers than the request allows would lose or gain something.
    ///
    /// From now on, the promises with this publication's mark count as ended, and the promises that a rollback restores
    /// count again. `Store.finishPublication` writes the rows of these promises later.
    ///
    /// - Parameter former: the number of the policy version that is in effect before.
    private func publish(
        _ request: RequestedPublication, as evaluation: PublicationEvaluation, former: Int64
    ) throws(StoreError) -> PublicationOutcome {
        var evaluation = evaluation
        let impacts = evaluation.impacts
        var counts = StoredPublication.Counts()
        counts.customers = evaluation.customers
        counts.gaining = impacts.values.count { $0.gains }
        counts.losing = impacts.values.count { $0.loses }
        guard counts.losing <= request.lossAllowance else { return .tooManyLosing(counts.losing) }
        if let allowance = request.gainAllowance, counts.gaining > allowance { return .tooManyGaining(counts.gaining) }

        let version = try record(policy: request.compiled, sha256: request.sha256)
        let id = try insert(request, of: version, counts)
        if request.endsPromises { try evaluation.markRemaining(in: self) }
        (counts.ended, counts.restored) = try begin(
            UnfinishedPublication(
                publication: id, restoringAfter: request.restoringAfter,
                mark: request.endsPromises ? evaluation.mark : nil))
        try session.execute(
            "UPDATE publications SET ended = $1, restored = $2 WHERE id = $3",
            [SQLValue(counts.ended), SQLValue(counts.restored), .integer(id)])
        let publication = StoredPublication(
            id: id, version: version, action: request.action, at: request.at, actor: request.actor,
            author: request.author, reason: request.reason, rehearsal: request.rehearsal, counts: counts)
        var detail = [
            "publication": String(id), "version": String(version), "former": String(former),
            "customers": String(counts.customers), "gaining": String(counts.gaining),
            "losing": String(counts.losing), "ended": String(counts.ended), "restored": String(counts.restored),
        ]
        detail["author"] = request.author
        detail["reason"] = request.reason
        detail["rehearsal"] = request.rehearsal
        try audit(AuditEntry(at: request.at, actor: request.actor, action: request.action.rawValue, detail: detail))
        try queue(Message(published: version, request.sha256, by: request.action, former: former), about: nil)
        try compareAllAgain()
        return .published(publication)
    }

    /// Stores a publication. Returns its ID.
    private func insert(
        _ request: RequestedPublication, of version: Int64, _ counts: StoredPublication.Counts
    ) throws(StoreError) -> Int64 {
        let row = try session.row(
            """
            INSERT INTO publications (
                policy, action, at, actor, author, reason, rehearsal, customers, gaining, losing, ended, restored
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0) RETURNING id
            """,
            [
                .integer(version), .text(request.action.rawValue), SQLValue(request.at),
                .text(request.actor), SQLValue(request.author), SQLValue(request.reason), SQLValue(request.rehearsal),
                SQLValue(counts.customers), SQLValue(counts.gaining), SQLValue(counts.losing),
            ])
        guard let row else { throw .defect("a publication was stored without a row ID") }
        return try row.integer(0)
    }

    /// Reads the publications that an SQL clause selects.
    private func publications(_ condition: String, _ arguments: [SQLValue]) throws(StoreError) -> [StoredPublication] {
        try session.rows(
            """
            SELECT id, policy, action, at, actor, author, reason, rehearsal, customers, gaining, losing, ended, restored
            FROM publications \(condition)
            """, arguments
        ).map { row throws(StoreError) in
            let counts = StoredPublication.Counts(
                customers: try row.count(8), gaining: try row.count(9), losing: try row.count(10),
                ended: try row.count(11), restored: try row.count(12))
            return StoredPublication(
                id: try row.integer(0), version: try row.integer(1),
                action: try row.namedValue(2, "a publication has the unknown action"), at: try row.instant(3),
                actor: try row.text(4), author: try row.textIfPresent(5), reason: try row.textIfPresent(6),
                rehearsal: try row.textIfPresent(7), counts: counts)
        }
    }
}

extension Message {
    /// The message about a publication. `former` is the number of the policy version that was in effect before; nil in
    /// a new database.
    fileprivate init(published version: Int64, _ sha256: [UInt8], by action: StoredPublication.Action, former: Int64?) {
        var fields = ["action": action.rawValue, "version": String(version), "sha256": sha256.hexadecimal]
        fields["former"] = former.map { String($0) }
        self.init(.policyPublished, fields)
    }
}
