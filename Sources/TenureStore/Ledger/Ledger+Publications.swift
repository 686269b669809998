import Foundation
import TenureCore
import TenureJSON

extension Ledger {
    /// What decides now; nil before the service ever met this record.
    func publication() throws(StoreError) -> RecordedPublication? {
        try publications("ORDER BY id DESC LIMIT 1", []).first
    }

    /// The version of what decides now.
    func publishedVersion() throws(StoreError) -> Int64? {
        try session.row("SELECT policy FROM publications ORDER BY id DESC LIMIT 1")?.integer(0)
    }

    func publications() throws(StoreError) -> [RecordedPublication] { try publications("ORDER BY id", []) }

    /// What decides now: in an empty record this policy from now on.
    func start(with compiled: [UInt8], sha256: [UInt8]) throws(StoreError) -> RecordedPublication {
        if let publication = try publication() { return publication }
        let version = try version(of: compiled, sha256: sha256)
        let id = try insert(
            RequestedPublication(
                compiled: compiled, sha256: sha256, act: .start, at: now, actor: "service", reason: nil, base: 0),
            of: version, RecordedPublication.Counts())
        try tell(Message(published: version, sha256, by: .start, instead: nil), of: nil)
        return RecordedPublication(id: id, version: version, act: .start, at: now, actor: "service")
    }

    /// The number of a version, which is given where it has none yet.
    func version(of compiled: [UInt8], sha256: [UInt8]) throws(StoreError) -> Int64 {
        let recorded = try record(policy: compiled, sha256: sha256)
        guard let version = recorded.first(where: { $0.sha256 == sha256 })?.version else {
            throw .failed("a policy got no version")
        }
        return version
    }

    /// Everything at once, or nothing: what was found is found again for whoever changed meanwhile, the promises that
    /// end or come back do so, and from then on the policy decides.
    func publish(
        _ request: RequestedPublication, after survey: PublicationSurvey,
        judging judge: (SurveyedCustomer) throws(StoreError) -> PublicationVerdict
    ) throws(StoreError) -> PublicationOutcome {
        try keepWritersAway()
        guard let former = try publication(), former.id == request.base else { return .overtaken }
        guard try isSettled(since: survey.mark) else { return .unsettled }
        let restored = try restorablePromises(after: request.restoringAfter)
        var verdicts = survey.verdicts
        for id in try customersChanged(since: survey.mark) {
            // With those who turned out to be them meanwhile.
            for member in try group(of: id) { verdicts[member] = nil }
            guard let customer = try surveyed(id, restoring: restored) else { continue }
            let verdict = try judge(customer)
            if verdict != PublicationVerdict() { verdicts[id] = verdict }
        }
        var counts = RecordedPublication.Counts()
        counts.customers = survey.customers
        counts.gaining = verdicts.values.count { $0.gains }
        counts.losing = verdicts.values.count { $0.loses }
        guard counts.losing <= request.allowance else { return .takes(counts.losing) }
        if let most = request.gainAllowance, counts.gaining > most { return .gives(counts.gaining) }

        let version = try version(of: request.compiled, sha256: request.sha256)
        let id = try insert(request, of: version, counts)
        try settlePromises(request, in: id, of: version, verdicts, restored, &counts)
        try session.execute(
            "UPDATE publications SET ended = $1, restored = $2 WHERE id = $3",
            [SQLValue(counts.ended), SQLValue(counts.restored), .integer(id)])
        let publication = RecordedPublication(
            id: id, version: version, act: request.act, at: request.at, actor: request.actor, author: request.author,
            reason: request.reason, rehearsal: request.rehearsal, counts: counts)
        try audit(AuditEntry(publication, instead: former.version))
        try tell(Message(published: version, request.sha256, by: request.act, instead: former.version), of: nil)
        try announceEverybody()
        return .published(publication)
    }

    private func insert(
        _ request: RequestedPublication, of version: Int64, _ counts: RecordedPublication.Counts
    ) throws(StoreError) -> Int64 {
        let row = try session.row(
            """
            INSERT INTO publications (
                policy, act, at, actor, author, reason, rehearsal, customers, gaining, losing, ended, restored
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0) RETURNING id
            """,
            [
                .integer(version), .text(request.act.rawValue), .integer(request.at.millisecondsSince1970),
                .text(request.actor), SQLValue(request.author), SQLValue(request.reason), SQLValue(request.rehearsal),
                SQLValue(counts.customers), SQLValue(counts.gaining), SQLValue(counts.losing),
            ])
        guard let row else { throw .failed("a publication got no number") }
        return try row.integer(0)
    }

    private func publications(
        _ condition: String, _ arguments: [SQLValue]
    ) throws(StoreError) -> [RecordedPublication] {
        try session.rows(
            """
            SELECT id, policy, act, at, actor, author, reason, rehearsal, customers, gaining, losing, ended, restored
            FROM publications \(condition)
            """, arguments
        ).map { row throws(StoreError) in
            let name = try row.text(2)
            guard let act = RecordedPublication.Act(rawValue: name) else {
                throw .damaged("no publication is a `\(name)`")
            }
            var counts = RecordedPublication.Counts()
            counts.customers = Int(clamping: try row.integer(8))
            counts.gaining = Int(clamping: try row.integer(9))
            counts.losing = Int(clamping: try row.integer(10))
            counts.ended = Int(clamping: try row.integer(11))
            counts.restored = Int(clamping: try row.integer(12))
            return RecordedPublication(
                id: try row.integer(0), version: try row.integer(1), act: act, at: try row.instant(3),
                actor: try row.text(4), author: try row.textIfPresent(5), reason: try row.textIfPresent(6),
                rehearsal: try row.textIfPresent(7), counts: counts)
        }
    }
}

extension AuditEntry {
    fileprivate init(_ publication: RecordedPublication, instead former: Int64) {
        var detail = [
            "publication": String(publication.id), "version": String(publication.version), "former": String(former),
            "customers": String(publication.counts.customers), "gaining": String(publication.counts.gaining),
            "losing": String(publication.counts.losing), "ended": String(publication.counts.ended),
            "restored": String(publication.counts.restored),
        ]
        detail["author"] = publication.author
        detail["reason"] = publication.reason
        detail["rehearsal"] = publication.rehearsal
        self.init(at: publication.at, actor: publication.actor, act: publication.act.rawValue, detail: detail)
    }
}

extension Message {
    fileprivate init(
        published version: Int64, _ sha256: [UInt8], by act: RecordedPublication.Act, instead former: Int64?
    ) {
        var facts = [
            "act": act.rawValue, "version": String(version),
            "sha256": sha256.hexadecimal,
        ]
        facts["former"] = former.map { String($0) }
        self.init(.policyPublished, facts)
    }
}
