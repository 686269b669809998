/// An event that webhooks report.
package struct Message: Sendable, Hashable {
    /// The name in a webhook's `type` and in the configuration.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case entitlementGranted = "entitlement.granted"
        case entitlementRevoked = "entitlement.revoked"
        case entitlementExpiring = "entitlement.expiring"
        case customerMerged = "customer.merged"
        case customerErased = "customer.erased"
        /// A parent no longer allows the app.
        case customerConsentRescinded = "customer.consentRescinded"
        case policyPublished = "policy.published"
    }

    package let kind: Kind
    /// A JSON object with the fields that are specific to this kind.
    package let data: [UInt8]

    package init(_ kind: Kind, data: [UInt8]) {
        self.kind = kind
        self.data = data
    }

    package init(_ kind: Kind, _ fields: [String: String]) { self.init(kind, data: Array(fields.json.utf8)) }
}
