import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The contents of an entitlement token: a signed statement of entitlements for offline use. The token is valid only
/// for one device, one environment, and the acquisition of the app by one Apple Account.
struct EntitlementToken {
    /// The bundle ID of the app.
    let bundleID: String
    let customer: Customer
    /// The ID of the acquisition; nil if the device's app transaction has no `appTransactionId`.
    let appTransactionID: String?
    /// The hash of the device ID, as `UUID.hashed` writes it.
    let device: String
    /// The decisions about all entitlements. The token contains only the granted entitlements.
    let decisions: [Decision]
    /// The persona (test customer) that replaced the customer in the decisions; nil if there is no persona.
    var persona: StoredPersona?
    /// The random value of the device's request; nil if the request had none.
    var nonce: String?
    let lifetimes: ServiceConfiguration.TokenLifetimes
    let now: Date

    /// The JWS header's `typ`, so that no other text that this key signed is accepted as an entitlement token.
    static let type = SignedType.entitlementToken

    /// The claims as JSON; instants are seconds since 1970, as in RFC 7519.
    var claims: [UInt8] {
        JSONWriter.object { json in
            json.field("iss", "tenure")
            json.field("sub", customer.publicID)
            json.field("bundleID", bundleID)
            json.field("environment", customer.realm.environment.rawValue)
            if customer.realm.isTest { json.field("test", true) }
            // Production apps reject a token with this field.
            if let persona { json.field("persona", persona.name) }
            json.field("appTransactionID", ifPresent: appTransactionID)
            json.field("device", device)
            json.field("iat", seconds(now))
            json.field("exp", seconds(end))
            json.field("nonce", ifPresent: nonce)
            json.object("entitlements") { json in
                for index in decisions.indices where decisions[index].outcome == .granted {
                    write(decisions[index], into: &json)
                }
            }
        }
    }

    /// When the token expires: no later than the persona. A token without a nonce could be sent again by someone else,
    /// so it is short-lived.
    private var end: Date {
        let term = nonce == nil ? lifetimes.entitlementTokenWithoutNonce : lifetimes.entitlementToken
        return min(now.addingTimeInterval(term), persona?.expiresAt ?? .distantFuture)
    }

    /// Writes the right to an entitlement.
    ///
    /// Rights from subscriptions have an end, `until`. A refund or a revocation by support can end every other right at
    /// any time, and the device learns of that only when it syncs. So `refreshAfter` says when the device should sync.
    /// Until the device has synced, it keeps the right. Without a nonce, all rights end with the token.
    private func write(_ decision: Decision, into json: inout JSONWriter) {
        json.object(decision.entitlement) { json in
            let limit = nonce == nil ? end : nil
            if let until = [decision.until, limit].compactMap(\.self).min() { json.field("until", seconds(until)) }
            if !decision.endsByItself, nonce != nil {
                json.field("refreshAfter", seconds(now.addingTimeInterval(lifetimes.refresh)))
            }
        }
    }

    private func seconds(_ date: Date) -> Int64 { date.millisecondsSince1970 / 1000 }
}

extension UUID {
    /// The form in which the database and entitlement tokens contain a device ID (`AppStore.deviceVerificationID`):
    /// SHA-256 of the lowercase UUID, in base64url without padding. The service never stores the device ID itself.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: lowercaseUTF8)) }
}
