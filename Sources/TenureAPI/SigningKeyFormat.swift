import TenureJSON

/// The `typ` of each compact JWS of a service's keys, so that none passes for another.
package enum SignedType {
    package static let entitlementToken = "tenure-entitlement+jwt"
    /// A signing key vouches for the one after it.
    package static let keyStatement = "tenure-key+jwt"
    /// The offline root lets a signing key sign for a limited period.
    package static let rootStatement = "tenure-root+jwt"
    /// The offline root ends the tokens of signing keys.
    package static let revocations = "tenure-revocations+jwt"
}

/// Bounds of what vouches for a signing key, kept by who writes it and by who reads it.
package enum SigningKeyBounds {
    /// Keys in a chain: the oldest that an app may have pinned, the one in use, and all between them.
    package static let longestChain = 16
    /// Bytes of one statement about a key.
    package static let largestStatement = 1024
    /// Revoked keys in one list.
    package static let mostRevocations = 200
    /// Bytes of a list of revoked keys.
    package static let largestRevocations = 16 * 1024
}

/// What vouches for the key that signed an entitlement token. It travels beside the token, which must fit into headers.
public struct SigningKeyResponse: Sendable, Hashable, Codable {
    /// Statements by which older keys vouch for newer ones, oldest first. The last is about the key in use.
    public var chain: [String]?
    /// The offline root's statement about the key in use.
    public var root: String?
    /// The offline root's newest list of revoked keys.
    public var revocations: String?

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
                json.key("chain")
                json.value(chain)
            }
            if let root = keys.root {
                json.key("root")
                json.value(root)
            }
            if let revocations = keys.revocations {
                json.key("revocations")
                json.value(revocations)
            }
        }
    }
}
