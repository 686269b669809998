import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// What a build under test hands over so that somebody else stands in for its customer.
///
/// A compact JWS of the service's own key. The record says whether it is good; the token says who it is, for people,
/// and that it is for this app and no other.
struct PersonaToken {
    let persona: StoredPersona
    let bundleID: String

    /// The JWS header's `typ`, so that it never passes for an entitlement token, nor an entitlement token for it.
    static let type = "tenure-persona+jwt"
    /// Bytes. Far more than one has.
    static let longest = 4096

    /// The claims as JSON; instants are seconds since 1970, as in RFC 7519.
    var claims: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.key("iss")
            json.value("tenure")
            json.key("jti")
            json.value(persona.publicID)
            json.key("sub")
            json.value(persona.name)
            json.key("bundleID")
            json.value(bundleID)
            json.key("iat")
            json.value(persona.createdAt.millisecondsSince1970 / 1000)
            json.key("exp")
            json.value(persona.expiresAt.millisecondsSince1970 / 1000)
            json.key("set")
            json.value(Dictionary(uniqueKeysWithValues: persona.persona.proof.settings))
        }
        return json.bytes
    }

    /// What a token claims that this service signed.
    struct Claims: Decodable {
        let jti: String
        let bundleID: String
    }

    func signed(by keys: SigningKeySet) throws -> String { try keys.sign(claims, type: Self.type) }

    static func claims(of text: String, by keys: SigningKeySet) -> Claims? {
        guard text.utf8.count <= longest, let payload = keys.payload(of: text, type: type) else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: Data(payload))
    }
}
