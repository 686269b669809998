import Foundation
import TenureCore

/// The contents (claims) of an entitlement token: what the service signed for this device, so that the device also
/// knows the rights offline. Use them only after the signature was verified. The decoder must read dates as seconds
/// since 1970.
struct EntitlementTokenClaims: Sendable, Hashable, Decodable {
    /// `tenure` in all tokens that a service signs.
    let issuer: String
    let bundleID: String
    let environment: AppStoreEnvironment
    private let test: Bool?
    /// The name of the persona, a test customer; nil for a real customer.
    let persona: String?
    /// The `appTransactionID` of the account. Nil if the service doesn't know it.
    let appTransactionID: String?
    /// The hash of the ID of the device: see `UUID.hashed`.
    let device: String
    let issuedAt: Date
    /// The time when the token expires. If the token has a nonce, this ends no right: each right has its own end.
    let expiresAt: Date
    /// The random text in the request that the token answers. If there is no nonce, every right ends when the token
    /// expires.
    let nonce: String?
    private let entitlements: [String: Right]

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case issuedAt = "iat"
        case expiresAt = "exp"
        case bundleID, environment, test, persona, appTransactionID, device, nonce, entitlements
    }

    /// Whether a test authority, such as a local App Store, signed the evidence about the customer.
    var isTest: Bool { test ?? false }

    /// The granted entitlements, by name.
    var rights: [String: Right] {
        nonce == nil ? entitlements.mapValues { $0.ending(by: expiresAt) } : entitlements
    }

    /// One granted entitlement.
    struct Right: Sendable, Hashable, Decodable {
        /// The time when the right ends. Nil if it is permanent.
        private(set) var until: Date?

        /// Returns this right with an end no later than `end`.
        func ending(by end: Date) -> Right {
            var right = self
            right.until = until.map { min($0, end) } ?? end
            return right
        }
    }
}
