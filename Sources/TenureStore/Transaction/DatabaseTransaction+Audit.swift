package import Foundation

/// An entry of the audit trail: who changed what, when, for which customer and why.
///
/// The entries about a customer outlive the customer's erasure, so they contain no ID of a user, an account or an
/// artifact.
package struct AuditEntry: Sendable, Hashable {
    /// The row ID of the entry; 0 before it is written.
    package let id: Int64
    /// When the change was made or refused.
    package let at: Date
    /// Who made the change: the name of the admin key in the request, `adminKey` for the key in the configuration, or
    /// `command` for a `tenure` command on the database.
    package let actor: String
    /// What was done, such as `grant` or `createKey`.
    package let action: String
    /// The public ID of the customer whom the entry is about; nil if it isn't about one, or if the request had no valid
    /// public ID.
    package let customer: String?
    /// Further fields by name. `reason` is the reason that the request gave; `refused` is why nothing was changed.
    package let detail: [String: String]

    package init(
        id: Int64 = 0, at: Date, actor: String, action: String, customer: String? = nil, detail: [String: String] = [:]
    ) {
        self.id = id
        self.at = at.toMillisecond
        self.actor = actor
        self.action = action
        self.customer = customer
        self.detail = detail
    }
}

/// The audit trail: what was changed or exported with an admin key or by a command, and which requests of admin keys
/// were refused.
extension DatabaseTransaction {
    /// Appends an entry to the audit trail. Leaves out the IDs of the customer, and of the other customer of a merge,
    /// if they aren't valid public IDs. A request may contain any text as an ID, such as a person's name, and the trail
    /// keeps all entries.
    package func audit(_ entry: AuditEntry) throws(StoreError) {
        func isKept(_ id: String) -> Bool { PublicID.customer.matches(id) }
        let detail = entry.detail.filter { $0.key != "other" || isKept($0.value) }
        try session.execute(
            "INSERT INTO audit (at, actor, action, customer, detail) VALUES ($1, $2, $3, $4, $5)",
            [
                SQLValue(entry.at), .text(entry.actor), .text(entry.action),
                SQLValue(entry.customer.flatMap { isKept($0) ? $0 : nil }), detail.isEmpty ? .null : .text(detail.json),
            ])
    }

    /// Returns entries of the audit trail, the latest first.
    ///
    /// - Parameters:
    ///   - entry: the row ID of an entry: only earlier entries are returned. Nil for the latest entries.
    ///   - publicID: the public ID of the customer whom the entries must be about; nil for all entries.
    package func audit(before entry: Int64?, of publicID: String?, limit: Int) throws(StoreError) -> [AuditEntry] {
        var conditions: [String] = []
        var arguments: [SQLValue] = []
        func add(_ condition: String, _ value: SQLValue) {
            arguments.append(value)
            conditions.append("\(condition) $\(arguments.count)")
        }
        if let entry { add("id <", .integer(entry)) }
        if let publicID { add("customer =", .text(publicID)) }
        arguments.append(SQLValue(limit))
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        return try session.rows(
            """
            SELECT id, at, actor, action, customer, detail FROM audit \(condition) ORDER BY id DESC
            LIMIT $\(arguments.count)
            """, arguments
        ).map { row throws(StoreError) in
            AuditEntry(
                id: try row.integer(0), at: try row.instant(1), actor: try row.text(2), action: try row.text(3),
                customer: try row.textIfPresent(4), detail: try row.detail(5))
        }
    }
}
