package import Foundation

/// Everything that the database stores about a customer, and about the customers who were merged into them.
package struct CustomerDetails: Sendable {
    /// What to read besides the summary.
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
