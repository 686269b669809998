import Foundation
import TenureAPI
import TenureCore
package import TenureJSON

/// The body of `POST /v1/admin/personas`.
struct PersonaRequest: AdminRequest {
    let name: String
    /// The fields of the persona's app transaction, with Apple's names: `originalPlatform`, `originalAppVersion` …
    let set: [String: String]?
    /// The date at which the persona expires; nil for 30 days from now.
    let expires: Date?
    /// Whether to replace an active persona with this name.
    let replace: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, set, expires, replace
    }
}

/// The body of `POST /v1/admin/personas/ready-made`.
struct ReadyMadePersonasRequest: AdminRequest {
    /// The platform on which the personas got the app; nil for iOS, or the policy's platform.
    let platform: String?
    /// The date at which the personas expire; nil for 30 days from now.
    let expires: Date?
    /// Whether to replace active personas with these names.
    let replace: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case platform, expires, replace
    }
}

/// A persona in responses of the admin API.
package struct PersonaAnswer: Sendable, Hashable, Decodable {
    /// Whether the service accepts the persona's token.
    package enum State: String, Sendable, Hashable, Codable {
        case valid, expired, revoked
    }

    package let name: String
    package let state: State
    /// The fields of the persona's app transaction, with Apple's names.
    package let set: [String: String]
    /// The date in RFC 3339, like the two below.
    let createdAt: String
    package let expiresAt: String
    package let revokedAt: String?
    /// The outcomes that the current policy has for the persona without purchases, by entitlement.
    package let entitlements: [String: String]
    /// The kind of customer that a ready-made persona represents.
    package let what: String?
    /// The token that the build under test sends. Only the response that creates the persona has it.
    package let token: String?
}

/// Personas in responses of the admin API.
package struct PersonasAnswer: Sendable, Hashable, Decodable {
    /// A ready-made persona that wasn't created.
    package struct Omitted: Sendable, Hashable, Decodable {
        package let name: String
        package let why: String
    }

    package let personas: [PersonaAnswer]
    /// The ready-made personas that can't be derived from the policy, with the reasons.
    package var omitted: [Omitted]?
}

extension JSONWriter {
    package mutating func value(_ answer: PersonasAnswer) {
        object { json in
            json.field("personas", answer.personas) { $0.value($1) }
            if let omitted = answer.omitted {
                json.field("omitted", omitted) { json, omitted in
                    json.object { json in
                        json.field("name", omitted.name)
                        json.field("why", omitted.why)
                    }
                }
            }
        }
    }

    package mutating func value(_ persona: PersonaAnswer) {
        object { json in
            json.field("name", persona.name)
            json.field("state", persona.state.rawValue)
            json.field("set", persona.set)
            json.field("createdAt", persona.createdAt)
            json.field("expiresAt", persona.expiresAt)
            json.field("revokedAt", ifPresent: persona.revokedAt)
            json.field("entitlements", persona.entitlements)
            json.field("what", ifPresent: persona.what)
            json.field("token", ifPresent: persona.token)
        }
    }
}
