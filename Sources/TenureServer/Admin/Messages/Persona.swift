package import Foundation
import TenureAPI
import TenureCore
import TenureJSON

/// `POST /v1/admin/personas`
package struct PersonaRequest: Sendable, Hashable, Decodable {
    package let name: String
    /// What their app transaction would say, by Apple's names: `originalPlatform`, `originalAppVersion` …
    package let set: [String: String]
    /// When it stands for nobody any more; nil: after thirty days.
    package let expires: Date?
    /// Whether it takes the place of a good one of that name.
    package let replace: Bool

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case name, set, expires, replace
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        name = try fields.decode(String.self, forKey: .name)
        set = try fields.decodeIfPresent([String: String].self, forKey: .set) ?? [:]
        expires = try fields.instantIfPresent(.expires)
        replace = try fields.decodeIfPresent(Bool.self, forKey: .replace) ?? false
    }
}

/// `POST /v1/admin/personas/ready-made`
package struct ReadyMadePersonasRequest: Sendable, Hashable, Decodable {
    /// On which they acquired the app; nil: iOS, or whichever the policy knows.
    package let platform: String?
    package let expires: Date?
    package let replace: Bool

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case platform, expires, replace
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        platform = try fields.decodeIfPresent(String.self, forKey: .platform)
        expires = try fields.instantIfPresent(.expires)
        replace = try fields.decodeIfPresent(Bool.self, forKey: .replace) ?? false
    }
}

/// A persona as the admin interface tells of it.
package struct PersonaAnswer: Sendable, Hashable, Decodable {
    package enum State: String, Sendable, Hashable, Codable {
        case good, expired, revoked
    }

    package let name: String
    package let state: State
    package let set: [String: String]
    /// As in RFC 3339, like the other two.
    package let createdAt: String
    package let expiresAt: String
    package let revokedAt: String?
    /// What the present policy makes of them, as far as eras go: outcomes by entitlement.
    package let entitlements: [String: String]
    /// Whom it stands for, where it is a ready-made one.
    package let what: String?
    /// What a build under test hands over; told once.
    package let token: String?

    package init(
        name: String, state: State, set: [String: String], createdAt: Date, expiresAt: Date, revokedAt: Date?,
        entitlements: [String: String], what: String? = nil, token: String? = nil
    ) {
        self.name = name
        self.state = state
        self.set = set
        self.createdAt = createdAt.rfc3339
        self.expiresAt = expiresAt.rfc3339
        self.revokedAt = revokedAt?.rfc3339
        self.entitlements = entitlements
        self.what = what
        self.token = token
    }
}

/// Personas, with the ready-made ones that this policy has no place for.
package struct PersonasAnswer: Sendable, Hashable, Decodable {
    package struct Left: Sendable, Hashable, Decodable {
        package let name: String
        package let why: String

        package init(name: String, why: String) {
            self.name = name
            self.why = why
        }
    }

    package let personas: [PersonaAnswer]
    package let left: [Left]?

    package init(personas: [PersonaAnswer], left: [Left]? = nil) {
        self.personas = personas
        self.left = left
    }
}

extension JSONWriter {
    package mutating func value(_ answer: PersonasAnswer) {
        object { json in
            json.key("personas")
            json.array(answer.personas) { $0.value($1) }
            if let left = answer.left {
                json.key("left")
                json.array(left) { json, left in
                    json.object { json in
                        json.key("name")
                        json.value(left.name)
                        json.key("why")
                        json.value(left.why)
                    }
                }
            }
        }
    }

    package mutating func value(_ persona: PersonaAnswer) {
        object { json in
            json.key("name")
            json.value(persona.name)
            json.key("state")
            json.value(persona.state.rawValue)
            json.key("set")
            json.value(persona.set)
            json.key("createdAt")
            json.value(persona.createdAt)
            json.key("expiresAt")
            json.value(persona.expiresAt)
            if let revokedAt = persona.revokedAt {
                json.key("revokedAt")
                json.value(revokedAt)
            }
            json.key("entitlements")
            json.value(persona.entitlements)
            if let what = persona.what {
                json.key("what")
                json.value(what)
            }
            if let token = persona.token {
                json.key("token")
                json.value(token)
            }
        }
    }
}
