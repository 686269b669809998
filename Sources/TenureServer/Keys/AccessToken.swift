import Foundation
import TenureAPI
import TenureStore

/// The contents of an access token, which an app sends to read its customer's decisions without another sync: the
/// customer, and when the token expires.
///
/// The token is 50 bytes in Base64: a version, the realm, the customer's row ID, the end of the token in seconds since
/// 1970, and a message authentication code (MAC) over these bytes. The realm says which environment of the App Store,
/// or which test authority, signed the customer's artifacts. A token with a persona (a test customer that replaces the
/// real one) has another version, and the persona's row ID before the MAC.
struct AccessToken: Sendable, Hashable {
    /// The customer's row ID in the database. If customers were merged, it may be the row of any of them.
    let customer: Int64
    let realm: Realm
    let expiresAt: Date
    /// The row ID of the persona that replaces the customer; nil if there is no persona.
    let persona: Int64?

    private static let version: UInt8 = 1
    private static let personaVersion: UInt8 = 2
    /// The size in bytes of a token without persona and MAC.
    private static let bodySize = 18
    private static let macSize = 32

    /// The sizes of tokens in bytes: without a persona, and with a persona.
    static let sizes = [bodySize + macSize, bodySize + 8 + macSize]

    /// The token's bytes without the MAC.
    var body: [UInt8] {
        var bytes: [UInt8] = [persona == nil ? Self.version : Self.personaVersion, realm.code]
        bytes.reserveCapacity(Self.sizes[1])
        bytes.append(bigEndian: customer)
        bytes.append(bigEndian: Int64(expiresAt.timeIntervalSince1970))
        if let persona { bytes.append(bigEndian: persona) }
        return bytes
    }

    /// Reads a token's bytes. The caller must have checked the MAC. Nil if the size, version or realm is unknown.
    init?(_ bytes: [UInt8]) {
        let version = bytes.count == Self.sizes[0] ? Self.version : Self.personaVersion
        guard Self.sizes.contains(bytes.count), bytes[0] == version, let realm = Realm(code: bytes[1]) else {
            return nil
        }
        self.init(
            customer: bytes.number(at: 2), realm: realm,
            expiresAt: Date(timeIntervalSince1970: TimeInterval(bytes.number(at: 10))),
            persona: version == Self.personaVersion ? bytes.number(at: Self.bodySize) : nil)
    }

    /// Creates the contents of a new token.
    init(customer: Int64, realm: Realm, expiresAt: Date, persona: Int64? = nil) {
        self.customer = customer
        self.realm = realm
        self.persona = persona
        // Rounded to whole seconds, as in the token's bytes.
        self.expiresAt = Date(timeIntervalSince1970: expiresAt.timeIntervalSince1970.rounded(.down))
    }
}

extension Problem {
    /// The response to a request without a valid access token.
    static let accessTokenRefused = Problem(
        .notAuthenticated, "the access token is missing, invalid or expired; sync again")
}
