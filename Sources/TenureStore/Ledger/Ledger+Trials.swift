import Foundation
import TenureCore

extension Ledger {
    func beginTrialSession(
        _ name: String, of entitlement: String, for id: Int64, if admits: (Customer, TrialUse) -> Bool
    ) throws(StoreError) -> (customer: Customer, use: TrialUse, isCounted: Bool)? {
        // Locked: whoever comes at the same moment sees what this one took.
        guard let customer = try customer(id, forUpdate: true), try !isVisit(customer.id) else { return nil }
        let use = try trialUse(of: entitlement, by: customer.id, session: name)
        guard use.sessionBegan == nil, admits(customer, use) else { return (customer, use, false) }
        try session.execute(
            "INSERT INTO trial_sessions (customer, entitlement, session, began_at) VALUES ($1, $2, $3, $4)",
            // Under who was named, so that it stays theirs where those who are one part again.
            [.integer(id), .text(entitlement), .text(name), milliseconds])
        return (customer, use, true)
    }

    /// By entitlement, over all members of the customer.
    func begunSessions(of customer: Int64) throws(StoreError) -> [String: BegunSessions] {
        var begun: [String: BegunSessions] = [:]
        for member in try group(of: customer) {
            let rows = try session.rows(
                """
                SELECT entitlement, min(began_at), max(began_at) FROM trial_sessions WHERE customer = $1
                GROUP BY entitlement
                """, [.integer(member)])
            for row in rows {
                let entitlement = try row.text(0)
                let (first, latest) = (try row.instant(1), try row.instant(2))
                begun[entitlement] = BegunSessions(
                    first: min(begun[entitlement]?.first ?? first, first),
                    latest: max(begun[entitlement]?.latest ?? latest, latest))
            }
        }
        return begun
    }

    /// Over all who turned out to be one: what each of them used counts.
    private func trialUse(
        of entitlement: String, by customer: Int64, session name: String
    ) throws(StoreError) -> TrialUse {
        var sessions: [String: Date] = [:]
        for member in try group(of: customer) {
            let rows = try session.rows(
                "SELECT session, began_at FROM trial_sessions WHERE customer = $1 AND entitlement = $2",
                [.integer(member), .text(entitlement)])
            for row in rows {
                let began = try row.instant(1)
                let session = try row.text(0)
                sessions[session] = min(sessions[session] ?? began, began)
            }
        }
        return TrialUse(sessions: sessions.count, since: sessions.values.min(), sessionBegan: sessions[name])
    }
}
