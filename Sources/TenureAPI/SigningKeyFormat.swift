import TenureJSON

/// The `typ` in the header of each kind of compact JWS that a signing key or an offline root signs, so that a JWS of
/// one kind isn't accepted as another kind. An offline root is a key that is kept offline, and that signs and revokes
/// signing keys.
package enum SignedType {
    /// An entitlement token.
    package static let entitlementToken = "tenure-entitlement+jwt"
    /// A statement by which a signing key vouches for the next signing key.
    package static let keyStatement = "tenure-key+jwt"
    /// A statement by which the offline root permits a signing key to sign for a limited period.
    package static let rootStatement = "tenure-root+jwt"
    /// The offline root's list of revoked signing keys.
    package static let revocations = "tenure-revocations+jwt"
}

/// The limits of statements about signing keys. The service and the client apply the same limits.
package enum SigningKeyBounds {
    /// The maximum number of keys in a chain, from the oldest key that an app may have pinned to the key in use.
    package static let maximumChainLength = 16
    /// The maximum size of one statement about a key, in bytes.
    package static let maximumStatementSize = 1024
    /// The maximum number of revoked keys in one list.
    package static let maximumRevocations = 200
    /// The maximum size of a list of revoked keys, in bytes.
    package static let maximumRevocationsSize = 16 * 1024
}

/// The statements that vouch for the signing key of an entitlement token. The token doesn't contain them, because it
/// must fit in an HTTP header.
package struct SigningKeyResponse: Sendable, Hashable, Codable {
    /// Statements by which older keys vouch for newer keys, oldest first. The last statement is about the key in use.
    package var chain: [String]?
    /// The offline root's statement about the key in use.
    package var root: String?
    /// The offline root's newest list of revoked keys.
    package var revocations: String?

    /// Creates a response with the statements that exist.
    package init(chain: [String]? = nil, root: String? = nil, revocations: String? = nil) {
        self.chain = chain
        self.root = root
        self.revocations = revocations
    }

    /// Whether there are no statements, so that apps must have pinned the signing key.
    package var isEmpty: Bool { chain == nil && root == nil && revocations == nil }
}

extension JSONWriter {
    /// Writes the statements that exist.
    package mutating func value(_ keys: SigningKeyResponse) {
        object { json in
            if let chain = keys.chain { json.field("chain", chain) }
            json.field("root", ifPresent: keys.root)
            json.field("revocations", ifPresent: keys.revocations)
        }
    }
}
