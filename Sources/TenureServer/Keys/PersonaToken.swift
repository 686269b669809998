import Foundation
import TenureCore
import TenureJSON
import TenureStore

/// A token that a sandbox build sends so that a persona, a test customer, replaces the real customer.
///
/// The token is a compact JWS, signed with the service's signing key. Only the database knows whether the persona is
/// still valid. The token also contains the app for which it is valid, and the name and settings of the persona, so
/// that people can see which persona it is for.
struct PersonaToken {
    let persona: StoredPersona
    /// The bundle ID of the app for which the persona is valid.
    let bundleID: String

    /// The JWS header's `typ`, so that neither a persona token nor an entitlement token is accepted as the other.
    static let type = "tenure-persona+jwt"
    /// The maximum size in bytes, far more than a token needs.
    static let maximumSize = 4096

    /// The claims as JSON; instants are seconds since 1970, as in RFC 7519.
    var claims: [UInt8] {
        JSONWriter.object { json in
            json.field("iss", "tenure")
            json.field("jti", persona.publicID)
            json.field("sub", persona.name)
            json.field("bundleID", bundleID)
            json.field("iat", persona.createdAt.millisecondsSince1970 / 1000)
            json.field("exp", persona.expiresAt.millisecondsSince1970 / 1000)
            json.field("set", Dictionary(uniqueKeysWithValues: persona.persona.proof.settings))
        }
    }

    /// The claims that the service needs from a token that it signed.
    struct Claims: Decodable {
        /// The persona's public ID.
        let jti: String
        let bundleID: String
    }

    /// Returns the signed token, which a sandbox build sends.
    func signed(by keys: SigningKeySet) throws -> String { try keys.sign(claims, type: Self.type) }

    /// Returns the claims of a persona token that one of these keys signed; nil for any other text.
    static func claims(of text: String, signedBy keys: SigningKeySet) -> Claims? {
        guard text.utf8.count <= maximumSize, let payload = keys.payload(of: text, type: type) else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: Data(payload))
    }
}
