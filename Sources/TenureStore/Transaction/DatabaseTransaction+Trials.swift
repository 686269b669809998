package import Foundation

/// A customer's use of an entitlement's trial, before a request for a session.
package struct TrialUse: Sendable, Hashable {
    /// The number of sessions that the customer has begun.
    package let sessions: Int
    /// The time when the first session began; nil without sessions.
    package let since: Date?
    /// The time when the requested session began; nil if it hasn't begun yet.
    package let sessionBegan: Date?
}

/// The dates of a customer's sessions of one trial.
package struct BegunSessions: Sendable, Hashable {
    /// When the first session began.
    package let first: Date
    /// When the latest session began.
    package let latest: Date
}

/// Counts the sessions of trials.
extension DatabaseTransaction {
    /// Locks and returns the customer, and what they used of an entitlement's trial. Returns nil if the customer
    /// doesn't exist or is unbound (`DatabaseTransaction`).
    ///
    /// The lock makes a concurrent request wait, so that it counts the session that this request begins.
    ///
    /// - Parameter name: the ID of the requested session, which may have begun already.
    package func trialUse(
        of entitlement: String, by id: Int64, session name: String
    ) throws(StoreError) -> (customer: Customer, use: TrialUse)? {
        guard let customer = try customer(id, forUpdate: true), try !isUnbound(customer.id) else { return nil }
        var sessions: [String: Date] = [:]
        for member in try group(of: customer.id) {
            let rows = try session.rows(
                "SELECT session, began_at FROM trial_sessions WHERE customer = $1 AND entitlement = $2",
                [.integer(member), .text(entitlement)])
            for row in rows {
                let began = try row.instant(1)
                let sessionName = try row.text(0)
                sessions[sessionName] = min(sessions[sessionName] ?? began, began)
            }
        }
        let use = TrialUse(sessions: sessions.count, since: sessions.values.min(), sessionBegan: sessions[name])
        return (customer, use)
    }

    /// Begins a session. It belongs to the member (row of `customers`) by which the customer was looked up, so that
    /// this member keeps the session if a merge is undone.
    package func beginTrialSession(_ name: String, of entitlement: String, for member: Int64) throws(StoreError) {
        try session.execute(
            "INSERT INTO trial_sessions (customer, entitlement, session, began_at) VALUES ($1, $2, $3, $4)",
            [.integer(member), .text(entitlement), .text(name), milliseconds])
    }

    /// The dates of the first and latest session of each entitlement, by its name, over all members of the customer.
    package func begunSessions(of customer: Int64) throws(StoreError) -> [String: BegunSessions] {
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
}
