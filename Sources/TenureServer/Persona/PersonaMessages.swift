package import Foundation

/// The body of `POST /v1/admin/personas`. A persona is a test customer for sandbox builds.
package struct PersonaRequest: AdminRequest, Sendable, Hashable, Codable {
    /// The name of the new persona: 1 to 64 printable ASCII characters without spaces.
    let name: String
    /// The fields of the persona's app transaction, with Apple's names, such as `originalPlatform`. Nil if it
    /// has no fields.
    let set: [String: String]?
    /// The date at which the persona expires; nil for 30 days from now.
    let expires: Date?
    /// Whether to replace a valid persona with this name. If false or nil, the service refuses the request while there
    /// is one.
    let replace: Bool?

    package enum CodingKeys: String, CodingKey, CaseIterable { case name, set, expires, replace }

    package init(name: String, set: [String: String]?, expires: Date?, replace: Bool?) {
        self.name = name
        self.set = set
        self.expires = expires
        self.replace = replace
    }
}

/// The body of `POST /v1/admin/personas/ready-made`.
package struct ReadyMadePersonasRequest: AdminRequest, Sendable, Hashable, Codable {
    /// The platform on which the personas got the app; nil for the first platform in the policy, or iOS.
    let platform: String?
    /// The date at which the personas expire; nil for 30 days from now.
    let expires: Date?
    /// Whether to replace valid personas that have the names of ready-made personas. If false or nil, the service
    /// refuses the request while there is one.
    let replace: Bool?

    package enum CodingKeys: String, CodingKey, CaseIterable { case platform, expires, replace }

    package init(platform: String?, expires: Date?, replace: Bool?) {
        self.platform = platform
        self.expires = expires
        self.replace = replace
    }
}

/// A persona in responses of the admin API.
package struct PersonaAnswer: Sendable, Hashable, Codable {
    /// Whether the service accepts the persona's token, or why not.
    package enum State: String, Sendable, Hashable, Codable { case valid, expired, revoked }

    package let name: String
    package let state: State
    /// The fields of the persona's app transaction, with Apple's names.
    package let set: [String: String]
    /// The date of creation in RFC 3339, like the two dates below.
    let createdAt: String
    package let expiresAt: String
    /// Nil if the persona isn't revoked.
    package let revokedAt: String?
    /// The outcome of each entitlement under the current policy, such as `granted`, by the entitlement's name. The
    /// persona counts as a customer without purchases.
    package let entitlements: [String: String]
    /// The kind of customer that a ready-made persona represents. Only the response that creates the persona has it.
    package let what: String?
    /// The token that the build under test sends. Only the response that creates the persona has it.
    package let token: String?
}

/// Personas in responses of the admin API.
package struct PersonasAnswer: Sendable, Hashable, Codable {
    /// A ready-made persona that can't be derived from the policy, and why.
    package struct Omitted: Sendable, Hashable, Codable {
        /// The name that the persona would have.
        package let name: String
        /// Why the policy doesn't allow this persona.
        package let why: String
    }

    package let personas: [PersonaAnswer]
    /// The ready-made personas that can't be derived from the policy; nil in responses to other requests.
    package var omitted: [Omitted]?
}
