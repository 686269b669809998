import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// What a device proves entitlements with while it is offline: bound to acquisition, device and environment.
struct EntitlementToken {
    let bundleID: String
    let customer: Customer
    let appTransactionID: String?
    /// As `UUID.hashed` writes it.
    let device: String
    let decisions: [Decision]
    /// The persona that replaced the customer; nil without one.
    var persona: StoredPersona?
    /// What the device made for the request that this answers.
    var nonce: String?
    let terms: ServiceConfiguration.Terms
    let now: Date

    /// The JWS header's `typ`, so that nothing else that this key ever signs passes for an entitlement token.
    static let type = SignedType.entitlementToken

    /// The claims as JSON; instants are seconds since 1970, as in RFC 7519.
    var claims: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.key("iss")
            json.value("tenure")
            json.key("sub")
            json.value(customer.publicID)
            json.key("bundleID")
            json.value(bundleID)
            json.key("environment")
            json.value(customer.realm.environment.rawValue)
            if customer.realm.isTest {
                json.key("test")
                json.value(true)
            }
            // Marks the token, so that no reader takes it for a customer's. Production apps reject it.
            if let persona {
                json.key("persona")
                json.value(persona.name)
            }
            if let appTransactionID {
                json.key("appTransactionID")
                json.value(appTransactionID)
            }
            json.key("device")
            json.value(device)
            json.key("iat")
            json.value(seconds(now))
            json.key("exp")
            json.value(seconds(end))
            if let nonce {
                json.key("nonce")
                json.value(nonce)
            }
            json.key("entitlements")
            json.object { json in
                for index in decisions.indices where decisions[index].outcome == .granted {
                    write(decisions[index], into: &json)
                }
            }
        }
        return json.bytes
    }

    /// No later than the persona's. Without a nonce the token can be sent again as if it were new, so it is short-lived.
    private var end: Date {
        let term = nonce == nil ? terms.entitlementTokenWithoutNonce : terms.entitlementToken
        return min(now.addingTimeInterval(term), persona?.expiresAt ?? .distantFuture)
    }

    /// A subscription ends by itself. A refund or support can end every other right, which a device learns by asking
    /// again. Until then, the right remains, unless the token has no nonce: then all rights end with the token.
    private func write(_ decision: Decision, into json: inout JSONWriter) {
        json.key(decision.entitlement)
        json.object { json in
            let limit = nonce == nil ? end : nil
            if let until = [decision.until, limit].compactMap(\.self).min() {
                json.key("until")
                json.value(seconds(until))
            }
            if !decision.endsByItself, nonce != nil {
                json.key("refreshAfter")
                json.value(seconds(now.addingTimeInterval(terms.refresh)))
            }
        }
    }

    private func seconds(_ date: Date) -> Int64 { date.millisecondsSince1970 / 1000 }
}
