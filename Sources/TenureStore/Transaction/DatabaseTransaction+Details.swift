package import Foundation

/// Everything that the database stores about a customer, and about the customers who were merged into them.
package struct CustomerDetails: Sendable {
    /// The parts that are read only on request.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: Int

        /// The bytes of artifacts and notifications.
        package static let bytes = Parts(rawValue: 1)
        /// The unbound customers with artifacts that name this customer.
        package static let unbound = Parts(rawValue: 1 << 1)
        /// The entries of the audit trail about the customer.
        package static let audit = Parts(rawValue: 1 << 2)

        package init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// The original ID and creation date of the customer itself, or of a customer that was merged into it.
    package struct Member: Sendable, Hashable {
        package let publicID: String
        package let createdAt: Date
    }

    /// A signed artifact or notification.
    package struct SignedEntry: Sendable, Hashable {
        /// The kind of artifact, or the type of notification.
        package let kind: String
        /// The subtype of the notification; nil for artifacts, and for notifications without a subtype.
        package let subtype: String?
        /// When the App Store signed it; nil if it doesn't say.
        package let signedAt: Date?
        /// When the service received it.
        package let receivedAt: Date
        /// The bytes as received; nil if they weren't requested.
        package let bytes: [UInt8]?
    }

    /// A device that sent an artifact that was signed for it.
    package struct Device: Sendable, Hashable {
        /// The hash of the device's ID.
        package let device: String
        package let firstSeen: Date
        package let lastSeen: Date
        /// How many entitlement tokens (signed statements of the entitlements) the device got.
        package let entitlementTokens: Int64
    }

    /// A trial session that the customer began.
    package struct TrialSession: Sendable, Hashable {
        package let entitlement: String
        /// The ID of the session, which the app chose.
        package let session: String
        package let beganAt: Date
    }

    /// The number of unbound customers in one page.
    static let unboundPerPage = 20

    package let customer: Customer
    package var members: [Member] = []
    package var identities: [Identity] = []
    package var artifacts: [SignedEntry] = []
    package var notifications: [SignedEntry] = []
    package var promises: [StoredPromise] = []
    package var support: [StoredSupportGrant] = []
    package var events: [StoredEvent] = []
    package var devices: [Device] = []
    package var trialSessions: [TrialSession] = []
    /// One page of the unbound customers: artifacts of this customer that came without proof that they belong to the
    /// sender. Empty unless `Parts.unbound` was requested.
    package var unbound: [CustomerDetails] = []
    /// The row ID after which the next page of unbound customers begins; nil on the last page.
    package var nextUnbound: Int64?
    /// The audit entries about each member, the oldest first, one member after the other. Empty unless `Parts.audit`
    /// was requested.
    package var audit: [AuditEntry] = []
}

/// Reads everything about a customer, for support staff and for exports. Also finds customers by any of their IDs.
/// `DatabaseTransaction` explains members and unbound customers.
extension DatabaseTransaction {
    /// Returns what is stored about a customer and all customers that were merged into it; nil if the customer doesn't
    /// exist.
    ///
    /// - Parameters:
    ///   - parts: the parts that are requested.
    ///   - last: the row ID of the last unbound customer on the previous page; 0 for the first page.
    package func details(
        of name: CustomerName, with parts: CustomerDetails.Parts, unboundAfter last: Int64 = 0
    ) throws(StoreError) -> CustomerDetails? {
        guard let member = try member(name, forUpdate: false) else { return nil }
        return try details(of: try customer(of: member, forUpdate: false), with: parts, unboundAfter: last)
    }

    /// Reads the details of a customer from the rows of all members.
    private func details(
        of customer: Customer, with parts: CustomerDetails.Parts, unboundAfter last: Int64
    ) throws(StoreError) -> CustomerDetails {
        var details = CustomerDetails(customer: customer)
        details.identities = try identities(of: customer.id)
        for id in try group(of: customer.id) {
            guard let member = try member(.rowID(id), forUpdate: false) else { continue }
            details.members.append(.init(publicID: member.publicID, createdAt: member.createdAt))
            details.artifacts += try signedEntries(
                of: id, in: "artifacts", "kind, NULL", where: Self.doesArtifactCount, withBytes: parts.contains(.bytes)
            ) { row throws(StoreError) in
                "\(try row.codedValue(0, "kind of artifact", Artifact.Kind.init(rawValue:)))"
            }
            details.notifications += try signedEntries(
                of: id, in: "notifications", "type, subtype", withBytes: parts.contains(.bytes)
            ) { row throws(StoreError) in try row.text(0) }
            details.promises += try promises(of: id)
            details.support += try supportGrants(of: id)
            details.events += try events(of: id)
            details.devices += try devices(of: id)
            details.trialSessions += try trialSessions(of: id)
            if parts.contains(.audit) {
                details.audit += try audit(before: nil, of: member.publicID, limit: Self.maximumAuditEntries).reversed()
            }
        }
        if parts.contains(.unbound) {
            let unboundCustomers = try unboundCustomers(of: customer.id).filter { $0 > last }
            for id in unboundCustomers.prefix(CustomerDetails.unboundPerPage) {
                guard let unbound = try self.customer(id) else { continue }
                details.unbound.append(
                    try self.details(of: unbound, with: parts.subtracting(.unbound), unboundAfter: 0))
                details.nextUnbound = id
            }
            // The last page has no next page.
            if unboundCustomers.count <= CustomerDetails.unboundPerPage { details.nextUnbound = nil }
        }
        return details
    }

    /// The maximum number of audit entries for each member, far more than a member has.
    private static let maximumAuditEntries = 10_000

    /// Reads a member's artifacts or notifications, which are in `table`.
    ///
    /// - Parameters:
    ///   - columns: two columns: the kind, and the subtype.
    ///   - condition: the SQL condition for a row that counts.
    ///   - kind: reads the kind from the first column.
    private func signedEntries(
        of id: Int64, in table: String, _ columns: String, where condition: String = "1 = 1", withBytes: Bool,
        kind: (SQLRow) throws(StoreError) -> String
    ) throws(StoreError) -> [CustomerDetails.SignedEntry] {
        let bytes = withBytes ? ", headers.bytes, \(table).bytes" : ""
        let join = withBytes ? "LEFT JOIN headers ON headers.id = header" : ""
        // As in `numberedArtifacts`, the plus keeps the database from using the index of row IDs.
        return try session.rows(
            """
            SELECT \(columns), signed_at, received_at\(bytes) FROM \(table) \(join)
            WHERE customer = $1 AND \(condition) ORDER BY +\(table).id
            """, [.integer(id)]
        ).map { row throws(StoreError) in
            CustomerDetails.SignedEntry(
                kind: try kind(row), subtype: try row.textIfPresent(1), signedAt: try row.instantIfPresent(2),
                receivedAt: try row.instant(3),
                bytes: withBytes ? (try row.bytesIfPresent(4) ?? []) + (try row.bytes(5)) : nil)
        }
    }

    private func devices(of id: Int64) throws(StoreError) -> [CustomerDetails.Device] {
        try session.rows(
            """
            SELECT device, first_seen, last_seen, entitlement_tokens FROM devices WHERE customer = $1
            ORDER BY first_seen, device
            """, [.integer(id)]
        ).map { row throws(StoreError) in
            CustomerDetails.Device(
                device: try row.text(0), firstSeen: try row.instant(1), lastSeen: try row.instant(2),
                entitlementTokens: try row.integer(3))
        }
    }

    private func trialSessions(of id: Int64) throws(StoreError) -> [CustomerDetails.TrialSession] {
        try session.rows(
            "SELECT entitlement, session, began_at FROM trial_sessions WHERE customer = $1 ORDER BY id", [.integer(id)]
        ).map { row throws(StoreError) in
            CustomerDetails.TrialSession(
                entitlement: try row.text(0), session: try row.text(1), beganAt: try row.instant(2))
        }
    }

    /// The maximum number of members that a search returns for a purchase that several accounts share.
    private static let maximumSharing = 100

    /// Returns the customers in these realms whom a string names: as a public ID, or as an identity of any kind except
    /// `unbound`.
    package func customers(withAnyID id: String, in realms: [Realm]) throws(StoreError) -> [Customer] {
        var found: [Customer] = []
        func add(_ customer: Customer?) {
            guard let customer, realms.contains(customer.realm), !found.contains(where: { $0.id == customer.id })
            else { return }
            found.append(customer)
        }
        add(try customer(named: id))
        for realm in realms {
            for kind in Identity.Kind.allCases where ![.unbound, .appAccountToken, .sharedPurchase].contains(kind) {
                add(try customer(by: Identity(kind, id), in: realm))
            }
            for member in try members(sharingAnyOf: [id], in: realm).sorted().prefix(Self.maximumSharing) {
                add(try customer(member))
            }
            // A UUID may be written in uppercase or lowercase.
            for customer in try customers(withAppAccountToken: id.lowercased(), in: realm) { add(customer) }
        }
        return found
    }

    /// Returns the customers with a purchase that has this `appAccountToken`, a UUID in lowercase. Reads at most 100
    /// identities.
    private func customers(withAppAccountToken token: String, in realm: Realm) throws(StoreError) -> [Customer] {
        let members = try session.integers(
            """
            SELECT customer FROM identities
            WHERE realm = $1 AND kind = $2 AND value >= $3 AND value < $4 ORDER BY value LIMIT 100
            """,
            [
                SQLValue(realm.code), SQLValue(Identity.Kind.appAccountToken.rawValue),
                // The values that begin with the token and a space. In ASCII, `!` comes directly after the space.
                .text(token + " "), .text(token + "!"),
            ])
        var found: [Int64: Customer] = [:]
        for member in members {
            if let customer = try customer(member) { found[customer.id] = customer }
        }
        return found.values.sorted { $0.id < $1.id }
    }
}
