/// The body of `POST /v1/admin/policies/rehearsals`: a policy, or the version to roll back to. A rehearsal evaluates
/// the policy for all customers, and changes nothing.
package struct RehearseRequest: AdminRequest, Sendable, Hashable, Codable {
    /// The policy in YAML or JSON, as text; nil to rehearse a rollback.
    package let policy: String?
    /// The version to roll back to; nil for the policy that was in effect before the current one.
    package let version: Int64?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case policy, version
    }

    package init(policy: String? = nil, version: Int64? = nil) {
        self.policy = policy
        self.version = version
    }
}

/// The body of `POST /v1/admin/policies`; without `policy`, of `POST /v1/admin/policies/rollback`.
package struct PublishRequest: AdminRequest, Sendable, Hashable, Codable {
    /// The policy in YAML or JSON, as text.
    package var policy: String?
    /// The version to roll back to; nil with `policy`, or to roll back to the policy in effect before the current one.
    var version: Int64?
    /// The reason for the publication, which the audit trail shows.
    package var reason: String
    /// The policy's author, if another person publishes it; otherwise nil.
    var author: String?
    /// Whether customers keep what they were promised, although the new policy denies it; nil for false. A promise is a
    /// right that an earlier version of the policy gave, stored for the customer.
    var keepPromises: Bool?
    /// The most customers who may lose something; at least as many as in `rehearsal`. Nil if no customer may lose
    /// anything.
    var takeFrom: Int?
    /// The most customers who may gain something; at least as many as in `rehearsal`. Nil if no customer may gain
    /// anything, and for a rollback, which has no such limit.
    package var giveTo: Int?
    /// The ID of the rehearsal in which these customers were counted; nil without `takeFrom` and `giveTo`.
    package var rehearsal: String?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case policy, version, reason, author, keepPromises, takeFrom, giveTo, rehearsal
    }

    package init(
        policy: String? = nil, version: Int64? = nil, reason: String, author: String? = nil, keepPromises: Bool? = nil,
        takeFrom: Int? = nil, giveTo: Int? = nil, rehearsal: String? = nil
    ) {
        self.policy = policy
        self.version = version
        self.reason = reason
        self.author = author
        self.keepPromises = keepPromises
        self.takeFrom = takeFrom
        self.giveTo = giveTo
        self.rehearsal = rehearsal
    }
}

/// The report of a rehearsal: what a policy would change for the customers in the database.
package struct RehearsalAnswer: Sendable, Hashable, Codable {
    /// A decision about an entitlement of one customer.
    package struct Answer: Sendable, Hashable, Codable {
        package let outcome: String
        /// The code of the deciding reason; `notInPolicy` if the policy doesn't have the entitlement.
        package let reason: String
        /// The end of the right, in RFC 3339; nil if it has no end or isn't granted.
        package let until: String?
    }

    /// A customer with another outcome than before, as an example. The app's original platform, version and purchase
    /// date are nil if the customer's proofs don't have them.
    package struct Example: Sendable, Hashable, Codable {
        /// The public ID of the customer.
        package let customer: String
        package let platform: String?
        package let originalAppVersion: String?
        package let originalPurchaseDate: String?
        /// The decision under the policy in effect.
        package let before: Answer
        /// The decision under the new policy.
        package let now: Answer
    }

    /// What the policy changes about one entitlement.
    package struct Entitlement: Sendable, Hashable, Codable {
        package let name: String
        // The number of customers with each outcome under the new policy.

        let granted: Int
        let denied: Int
        let undetermined: Int
        /// The number of customers who gain the entitlement.
        package let gains: Int
        /// The number of customers who lose the entitlement.
        package let loses: Int
        /// At most ten of the customers who gain the entitlement.
        package let gainers: [Example]
        /// At most ten of the customers who lose the entitlement.
        package let losers: [Example]
    }

    /// A finding of the policy linter.
    package struct Finding: Sendable, Hashable, Codable {
        package let code: String
        /// `error`, `warning` or `note`.
        package let severity: String
        package let message: String
        /// How to correct the policy; nil if the message says it.
        let fix: String?
        /// The path for the policy's `acknowledge`, such as `eras/freemium/begins/iOS`. Empty for mistakes.
        package let at: String
        /// The position in the policy that was sent, counted from 1.
        package let line: Int
        package let column: Int
        /// Whether the policy can't be published with this finding.
        package let blocks: Bool
    }

    /// A product in `productsWithoutEntitlement`.
    package struct Product: Sendable, Hashable, Codable {
        package let id: String
        /// The number of customers who bought the product.
        package let customers: Int
    }

    /// The ID of the rehearsal, to which a publication refers.
    package let id: String
    /// The date of the rehearsal, in RFC 3339.
    package let at: String
    /// The version of the policy that was in effect, with which the new policy was compared.
    package let against: Int64
    /// The number of evaluated customers: all customers in production except unbound customers. Their artifacts may
    /// be copies that another person sent.
    package let customers: Int
    /// The number of customers who gain something.
    package let gaining: Int
    /// The number of customers who lose something if the publication ends their promises of it.
    package let losing: Int
    /// The number of customers who lose something even if promises are kept.
    package let losingWithPromises: Int
    /// The number of customers with contradicting proofs: the version of an acquisition is from one era, and the date
    /// is from another.
    package let contradicting: Int
    /// The products that customers bought and that no entitlement lists.
    package let productsWithoutEntitlement: [Product]
    package let entitlements: [Entitlement]
    package let findings: [Finding]
}

/// A publication: how and when a version of the policy came into effect.
package struct PublicationAnswer: Sendable, Hashable, Codable {
    /// The number of the publication.
    package let publication: Int64
    /// The version of the policy.
    package let version: Int64
    /// `start`, `publish` or `rollback`.
    package let action: String
    /// When the version came into effect, in RFC 3339.
    package let at: String
    /// The name of the admin key in the request; `service` for the first policy of a new database.
    package let actor: String
    /// The policy's author, if the request named one.
    package let author: String?
    /// The reason in the request; nil for the first policy of a new database.
    package let reason: String?
    /// The ID of the rehearsal in the request; nil if the request had none.
    let rehearsal: String?
    /// The number of evaluated customers.
    package let customers: Int
    /// The number of customers who gained something.
    package let gaining: Int
    /// The number of customers who lost something.
    package let losing: Int
    /// The number of promises that ended.
    package let ended: Int
    /// The number of promises that a rollback restored.
    package let restored: Int
}

/// A version of the policy.
package struct PolicyVersionAnswer: Sendable, Hashable, Codable {
    package let version: Int64
    /// The digest of the compiled policy, in hexadecimal.
    let sha256: String
    /// When the version was stored, in RFC 3339.
    let recordedAt: String
    /// Whether this version is in effect.
    package let isCurrent: Bool
    /// The output of `tenure policy compile`; only in the response for one version.
    package var policy: String?
}

/// All versions of the policy, and all publications of them.
package struct PoliciesAnswer: Sendable, Hashable, Codable {
    package let versions: [PolicyVersionAnswer]
    /// The publications, oldest first.
    package let publications: [PublicationAnswer]
}
