/// `POST /v1/admin/policies/rehearsals`: of a policy, or of going back to a version.
package struct RehearseRequest: Sendable, Hashable, Codable {
    /// The policy in YAML or JSON, as text.
    package let policy: String?
    package let version: Int64?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case policy, version
    }

    package init(policy: String? = nil, version: Int64? = nil) {
        self.policy = policy
        self.version = version
    }
}

/// `POST /v1/admin/policies`, and `POST /v1/admin/policies/rollback` without `policy`.
package struct PublishRequest: Sendable, Hashable, Codable {
    /// The policy in YAML or JSON, as text.
    package var policy: String?
    /// Of a rollback: which version is to decide again; nil: the one that did before.
    package var version: Int64?
    package var reason: String
    /// Who wrote the policy, where that is not who publishes it.
    package var author: String?
    /// Whoever was promised what the policy does not give any more keeps it.
    package var keepPromises: Bool?
    /// At most so many customers may lose something; not fewer than `rehearsal` found.
    package var takeFrom: Int?
    /// At most so many customers may gain something; not fewer than `rehearsal` found. A rollback needs no number.
    package var giveTo: Int?
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

/// What a policy would do to everybody in the record.
package struct RehearsalAnswer: Sendable, Hashable, Codable {
    package struct Answer: Sendable, Hashable, Codable {
        package let outcome: String
        /// The code of the deciding reason; `notInPolicy` where the policy does not name the entitlement.
        package let reason: String
        package let until: String?

        package init(outcome: String, reason: String, until: String?) {
            self.outcome = outcome
            self.reason = reason
            self.until = until
        }
    }

    /// A customer to look at.
    package struct Example: Sendable, Hashable, Codable {
        /// A public id.
        package let customer: String
        package let platform: String?
        package let originalAppVersion: String?
        package let originalPurchaseDate: String?
        package let before: Answer
        package let now: Answer

        package init(
            customer: String, platform: String?, originalAppVersion: String?, originalPurchaseDate: String?,
            before: Answer, now: Answer
        ) {
            self.customer = customer
            self.platform = platform
            self.originalAppVersion = originalAppVersion
            self.originalPurchaseDate = originalPurchaseDate
            self.before = before
            self.now = now
        }
    }

    package struct Entitlement: Sendable, Hashable, Codable {
        package let name: String
        /// Under the new policy, like the other two.
        package let granted: Int
        package let denied: Int
        package let undetermined: Int
        package let gains: Int
        package let loses: Int
        package let gainers: [Example]
        package let losers: [Example]

        package init(
            name: String, granted: Int, denied: Int, undetermined: Int, gains: Int, loses: Int, gainers: [Example],
            losers: [Example]
        ) {
            self.name = name
            self.granted = granted
            self.denied = denied
            self.undetermined = undetermined
            self.gains = gains
            self.loses = loses
            self.gainers = gainers
            self.losers = losers
        }
    }

    /// What the linter found in the policy.
    package struct Finding: Sendable, Hashable, Codable {
        package let code: String
        /// `error`, `warning` or `note`.
        package let severity: String
        package let message: String
        package let fix: String?
        /// What the policy's `acknowledge` names: `eras/freemium/begins/iOS`. Empty for mistakes.
        package let at: String
        /// Where it is in the policy as it was sent, counted from 1.
        package let line: Int
        package let column: Int
        /// Whether it keeps the policy from being published.
        package let blocks: Bool

        package init(
            code: String, severity: String, message: String, fix: String?, at: String, line: Int, column: Int,
            blocks: Bool
        ) {
            self.code = code
            self.severity = severity
            self.message = message
            self.fix = fix
            self.at = at
            self.line = line
            self.column = column
            self.blocks = blocks
        }
    }

    /// A product that customers bought and no entitlement lists.
    package struct Product: Sendable, Hashable, Codable {
        package let id: String
        package let customers: Int

        package init(id: String, customers: Int) {
            self.id = id
            self.customers = customers
        }
    }

    package let id: String
    /// As in RFC 3339.
    package let at: String
    /// The version of the policy that decided then.
    package let against: Int64
    package let customers: Int
    package let gaining: Int
    /// Who would lose something if nothing were promised beyond what the policy gives.
    package let losing: Int
    /// Who would lose something although every promise is kept.
    package let losingWithPromises: Int
    /// Customers with an acquisition whose version and date prove different eras.
    package let contradicting: Int
    package let productsWithoutEntitlement: [Product]
    package let entitlements: [Entitlement]
    package let findings: [Finding]

    package init(
        id: String, at: String, against: Int64, customers: Int, gaining: Int, losing: Int, losingWithPromises: Int,
        contradicting: Int, productsWithoutEntitlement: [Product], entitlements: [Entitlement], findings: [Finding]
    ) {
        self.id = id
        self.at = at
        self.against = against
        self.customers = customers
        self.gaining = gaining
        self.losing = losing
        self.losingWithPromises = losingWithPromises
        self.contradicting = contradicting
        self.productsWithoutEntitlement = productsWithoutEntitlement
        self.entitlements = entitlements
        self.findings = findings
    }
}

/// When a version of the policy took effect, and how.
package struct PublicationAnswer: Sendable, Hashable, Codable {
    package let publication: Int64
    package let version: Int64
    /// `start`, `publish` or `rollback`.
    package let action: String
    /// As in RFC 3339.
    package let at: String
    /// The name of a key.
    package let actor: String
    package let author: String?
    package let reason: String?
    package let rehearsal: String?
    package let customers: Int
    package let gaining: Int
    package let losing: Int
    /// Promises that it ended.
    package let ended: Int
    /// Promises that bind again.
    package let restored: Int

    package init(
        publication: Int64, version: Int64, action: String, at: String, actor: String, author: String?, reason: String?,
        rehearsal: String?, customers: Int, gaining: Int, losing: Int, ended: Int, restored: Int
    ) {
        self.publication = publication
        self.version = version
        self.action = action
        self.at = at
        self.actor = actor
        self.author = author
        self.reason = reason
        self.rehearsal = rehearsal
        self.customers = customers
        self.gaining = gaining
        self.losing = losing
        self.ended = ended
        self.restored = restored
    }
}

/// A version of the policy.
package struct PolicyVersionAnswer: Sendable, Hashable, Codable {
    package let version: Int64
    /// In hexadecimal, of the compiled policy.
    package let sha256: String
    /// As in RFC 3339.
    package let recordedAt: String
    /// Whether this version is in effect.
    package let isCurrent: Bool
    /// As `tenure policy compile` writes it; where one version is asked for.
    package let policy: String?

    package init(version: Int64, sha256: String, recordedAt: String, isCurrent: Bool, policy: String? = nil) {
        self.version = version
        self.sha256 = sha256
        self.recordedAt = recordedAt
        self.isCurrent = isCurrent
        self.policy = policy
    }
}

/// Every version there is, and when each began to decide.
package struct PoliciesAnswer: Sendable, Hashable, Codable {
    package let versions: [PolicyVersionAnswer]
    /// The oldest first.
    package let publications: [PublicationAnswer]

    package init(versions: [PolicyVersionAnswer], publications: [PublicationAnswer]) {
        self.versions = versions
        self.publications = publications
    }
}
