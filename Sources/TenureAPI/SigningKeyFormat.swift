import TenureJSON

/// The `typ` of each kind of compact JWS, so that one kind isn't accepted as another.
package enum SignedType {
    package static let entitlementToken = "tenure-entitlement+jwt"
    /// A signing key vouches for the one after it.
    package static let keyStatement = "tenure-key+jwt"
    /// The offline root lets a signing key sign for a limited period.
    package static let rootStatement = "tenure-root+jwt"
    /// The offline root ends the tokens of signing keys.
    package static let revocations = "tenure-revocations+jwt"
}

/// The limits of statements about signing keys. The service and the client apply the same ones.
package enum SigningKeyBounds {
    /// The maximum number of keys in a chain, from the oldest one that an app may have pinned to the one in use.
    package static let longestChain = 16
    /// Bytes of one statement about a key.
    package static let largestStatement = 1024
    /// Revoked keys in one list.
    package static let mostRevocations = 200
    /// Bytes of a list of revoked keys.
    package static let largestRevocations = 16 * 1024
}

/// The statements that vouch for the key that signed an entitlement token. They are separate from the token, because it
/// must fit in an HTTP header.
public struct SigningKeyResponse: Sendable, Hashable, Codable {
    /// Statements by which older keys vouch for newer ones, oldest first. The last is about the key in use.
    public var chain: [String]?
    /// The offline root's statement about the key in use.
    public var root: String?
    /// The offline root's newest list of revoked keys.
    public var revocations: String?

    /// Creates a response with the statements that there are.
    public init(chain: [String]? = nil, root: String? = nil, revocations: String? = nil) {
        self.chain = chain
        self.root = root
        self.revocations = revocations
    }

    package var isEmpty: Bool { chain == nil && root == nil && revocations == nil }
}

extension JSONWriter {
    package mutating func value(_ keys: SigningKeyResponse) {
        object { json in
            if let chain = keys.chain {
                json.field("chain", chain)
            }
            json.field("root", ifPresent: keys.root)
            json.field("revocations", ifPresent: keys.revocations)
        }
    }
}
