import Foundation

/// Something that became true, for those outside who want to know.
package struct Message: Sendable, Hashable {
    /// As it stands in a webhook's `type` and in the configuration.
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
    /// A JSON object: what is particular to this kind.
    package let data: [UInt8]

    package init(_ kind: Kind, data: [UInt8]) {
        self.kind = kind
        self.data = data
    }

    package init(_ kind: Kind, _ facts: [String: String]) {
        self.init(kind, data: Array(facts.json.utf8))
    }
}

/// Whom to tell what.
package struct Endpoint: Sendable, Hashable {
    package let name: String
    /// Nil: everything, also what later releases tell.
    package let kinds: Set<Message.Kind>?

    package init(name: String, kinds: Set<Message.Kind>? = nil) {
        self.name = name
        self.kinds = kinds
    }

    /// As the column `types` holds it.
    var types: String { kinds.map { $0.map(\.rawValue).sorted().joined(separator: " ") } ?? "*" }
}

/// An endpoint of some process.
package struct NamedEndpoint: Sendable, Hashable {
    package let name: String
    /// Another one each time that a process says that it serves it; nil: none ever did.
    package let sign: String?
}

/// An endpoint that is told no more.
package struct ForgottenEndpoint: Sendable, Hashable {
    package let name: String
    /// Messages that waited for it, and were given up.
    package let waiting: Int

    package init(name: String, waiting: Int) {
        self.name = name
        self.waiting = waiting
    }
}
