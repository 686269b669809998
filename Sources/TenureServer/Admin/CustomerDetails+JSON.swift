import TenureCore
import TenureJSON
import TenureStore

/// Writes what the database stores about a customer, in responses and exports.
extension JSONWriter {
    /// Writes everything that is stored about a customer, for an export.
    mutating func fields(of details: CustomerDetails) {
        objects("mergedCustomers", details.members) { $0.fields(of: $1) }
        // Leaves out identities of shared purchases: they only serve to find the customer, and the transactions of
        // these purchases are among the artifacts.
        objects("identities", details.identities.filter { $0.kind != .sharedPurchase }) { $0.fields(of: $1) }
        objects("artifacts", details.artifacts) { $0.fields(of: $1) }
        objects("notifications", details.notifications) { $0.fields(of: $1) }
        objects("promises", details.promises) { $0.fields(of: $1) }
        objects("support", details.support) { $0.fields(of: $1) }
        objects("events", details.events) { $0.fields(of: $1) }
        objects("devices", details.devices) { $0.fields(of: $1) }
        objects("trialSessions", details.trialSessions) { $0.fields(of: $1) }
        objects("audit", details.audit) { $0.fields(of: $1) }
        // Each unbound customer has the same fields as this customer.
        objects("unboundCustomers", details.unbound) { $0.fields(of: $1) }
    }

    /// Writes one of the customers who were merged.
    mutating func fields(of member: CustomerDetails.Member) {
        field("id", member.publicID)
        field("createdAt", member.createdAt)
    }

    mutating func fields(of identity: Identity) {
        field("kind", "\(identity.kind)")
        field("value", identity.value)
    }

    /// Writes a promise: a recorded right to an entitlement, which later policy edits can't take.
    mutating func fields(of promise: StoredPromise) {
        field("entitlement", promise.entitlement)
        field("policy", promise.policyVersion)
        field("until", promise.until)
        field("recordedAt", promise.recordedAt)
        object("acquisition") { json in
            json.field("appTransactionID", ifPresent: promise.acquisition.appTransactionID)
            json.field("downloadID", ifPresent: promise.acquisition.downloadID)
            json.field("originalPurchaseDate", promise.acquisition.originalPurchaseDate)
        }
    }

    mutating func fields(of support: StoredSupportGrant) {
        field("kind", support.grant.kind.rawValue)
        field("entitlement", support.grant.entitlement)
        field("at", support.grant.date)
        field("until", support.grant.until)
        field("reason", ifPresent: support.reason)
        field("actor", ifPresent: support.actor)
    }

    mutating func fields(of event: StoredEvent) {
        field("kind", event.kind.rawValue)
        field("at", event.at)
        field("actor", ifPresent: event.actor)
        field("detail", event.detail)
    }

    /// Writes an artifact or a notification.
    mutating func fields(of entry: CustomerDetails.SignedEntry) {
        field("kind", entry.kind)
        field("subtype", ifPresent: entry.subtype)
        field("signedAt", entry.signedAt)
        field("receivedAt", entry.receivedAt)
        guard let bytes = entry.bytes else { return }
        // The bytes as they were received. A receipt is binary, so it is in Base64. All others are JWS, which is text.
        if entry.kind == "\(Artifact.Kind.receipt)" {
            field("base64", String(decoding: Base64.standard.encode(bytes), as: UTF8.self))
        } else {
            field("jws", String(decoding: bytes, as: UTF8.self))
        }
    }

    mutating func fields(of device: CustomerDetails.Device) {
        field("device", device.device)
        field("firstSeen", device.firstSeen)
        field("lastSeen", device.lastSeen)
        field("entitlementTokens", device.entitlementTokens)
    }

    mutating func fields(of session: CustomerDetails.TrialSession) {
        field("entitlement", session.entitlement)
        field("session", session.session)
        field("beganAt", session.beganAt)
    }

    mutating func fields(of entry: AuditEntry) {
        field("id", entry.id)
        field("at", entry.at)
        field("actor", entry.actor)
        field("action", entry.action)
        field("customer", ifPresent: entry.customer)
        field("detail", entry.detail)
    }
}
