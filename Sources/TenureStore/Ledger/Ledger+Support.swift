import Foundation
import TenureCore

extension Ledger {
    func record(_ act: SupportAct, for id: Int64, reason: String?, actor: String?) throws(StoreError) -> Customer? {
        guard let known = try customer(id, forUpdate: true) else { return nil }
        guard let (facts, act) = known.facts.adding(act) else { return known }
        try session.execute(
            """
            INSERT INTO support_acts (customer, entitlement, kind, at, until, reason, actor)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .integer(id), .text(act.entitlement), .text(act.kind.rawValue),
                .integer(act.date.millisecondsSince1970), SQLValue(act.until?.millisecondsSince1970),
                SQLValue(reason), SQLValue(actor),
            ])
        return try update(known, to: facts)
    }

    func supportActs(of customer: Int64) throws(StoreError) -> [RecordedSupportAct] {
        try session.rows(
            "SELECT entitlement, kind, at, until, reason, actor FROM support_acts WHERE customer = $1 ORDER BY id",
            [.integer(customer)]
        ).map { row throws(StoreError) in
            let name = try row.text(1)
            guard let kind = SupportAct.Kind(rawValue: name) else { throw .damaged("no act of support is `\(name)`") }
            return RecordedSupportAct(
                act: SupportAct(
                    kind, of: try row.text(0), date: try row.instant(2), until: try row.instantIfPresent(3)),
                reason: try row.textIfPresent(4), actor: try row.textIfPresent(5))
        }
    }
}

extension CustomerFacts {
    /// With what support did now, and as what it counts; nil where it was done before.
    func adding(_ act: SupportAct) -> (facts: CustomerFacts, act: SupportAct)? {
        // Rounded as in the database, so that a rebuild gives the same value.
        var act = SupportAct(
            act.kind, of: act.entitlement, date: act.date.toMillisecond, until: act.until?.toMillisecond)
        let latest = support.filter { $0.entitlement == act.entitlement }.max { $0.date < $1.date }
        if let latest {
            guard latest != act else { return nil }
            // What is done last counts, also where a clock was set back, or another machine's goes slow.
            let date = max(act.date, latest.date.addingTimeInterval(0.001).toMillisecond)
            act = SupportAct(act.kind, of: act.entitlement, date: date, until: act.until)
        }
        var facts = self
        facts.add(act)
        return (facts, act)
    }
}
