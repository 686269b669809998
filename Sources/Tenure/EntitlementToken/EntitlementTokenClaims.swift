import Foundation
import TenureCore

/// The claims of an entitlement token with a valid signature.
struct EntitlementTokenClaims: Sendable, Hashable {
    let bundleID: String
    let environment: AppStoreEnvironment
    /// Whether the artifacts were signed by a test authority.
    let isTest: Bool
    /// The name of the persona; nil for a real customer.
    let persona: String?
    let appTransactionID: String?
    /// The hash of the device verification ID.
    let device: String
    let issuedAt: Date
    let expiresAt: Date
    /// The nonce of the request that the token answers. If there is no nonce, every right ends when the token expires.
    let nonce: String?
    let rights: [String: Right]

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

/// Needs a decoder that reads dates as seconds since 1970.
extension EntitlementTokenClaims: Decodable {
    private enum CodingKeys: String, CodingKey {
        case iss, bundleID, environment, test, persona, appTransactionID, device, iat, exp, nonce, entitlements
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard try fields.decode(String.self, forKey: .iss) == "tenure" else {
            throw DecodingError.dataCorruptedError(
                forKey: .iss, in: fields, debugDescription: "the issuer isn't Tenure")
        }
        bundleID = try fields.decode(String.self, forKey: .bundleID)
        environment = try fields.decode(AppStoreEnvironment.self, forKey: .environment)
        isTest = try fields.decodeIfPresent(Bool.self, forKey: .test) ?? false
        persona = try fields.decodeIfPresent(String.self, forKey: .persona)
        appTransactionID = try fields.decodeIfPresent(String.self, forKey: .appTransactionID)
        device = try fields.decode(String.self, forKey: .device)
        issuedAt = try fields.decode(Date.self, forKey: .iat)
        expiresAt = try fields.decode(Date.self, forKey: .exp)
        nonce = try fields.decodeIfPresent(String.self, forKey: .nonce)
        let (end, isReplayable) = (expiresAt, nonce == nil)
        rights = try fields.decode([String: Right].self, forKey: .entitlements)
            .mapValues { isReplayable ? $0.ending(by: end) : $0 }
    }
}
