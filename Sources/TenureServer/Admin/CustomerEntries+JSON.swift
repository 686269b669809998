import TenureAPI
import TenureAppStore
import TenureCore
package import TenureJSON
import TenureStore

/// The JSON of stored entries in responses and exports.
extension JSONWriter {
    mutating func value(_ member: CustomerDetails.Member) {
        object { json in
            json.key("id")
            json.value(member.publicID)
            json.key("createdAt")
            json.value(member.createdAt)
        }
    }

    mutating func value(_ identity: Identity) {
        object { json in
            json.key("kind")
            json.value("\(identity.kind)")
            json.key("value")
            json.value(identity.value)
        }
    }

    mutating func value(_ promise: StoredPromise) {
        object { json in
            json.key("entitlement")
            json.value(promise.entitlement)
            json.key("policy")
            json.value(promise.policyVersion)
            json.key("until")
            json.value(promise.until)
            json.key("recordedAt")
            json.value(promise.recordedAt)
            json.key("acquisition")
            json.object { json in
                json.optional("appTransactionID", promise.acquisition.appTransactionID)
                json.optional("downloadID", promise.acquisition.downloadID)
                json.key("originalPurchaseDate")
                json.value(promise.acquisition.originalPurchaseDate)
            }
        }
    }

    mutating func value(_ support: StoredSupportGrant) {
        object { json in
            json.key("kind")
            json.value(support.grant.kind.rawValue)
            json.key("entitlement")
            json.value(support.grant.entitlement)
            json.key("at")
            json.value(support.grant.date)
            json.key("until")
            json.value(support.grant.until)
            json.optional("reason", support.reason)
            json.optional("actor", support.actor)
        }
    }

    mutating func value(_ event: StoredEvent) {
        object { json in
            json.key("kind")
            json.value(event.kind.rawValue)
            json.key("at")
            json.value(event.at)
            json.optional("actor", event.actor)
            json.key("detail")
            json.value(event.detail)
        }
    }

    mutating func value(_ entry: CustomerDetails.SignedEntry) {
        object { json in
            json.key("kind")
            json.value(entry.kind)
            json.optional("subtype", entry.subtype)
            json.key("signedAt")
            json.value(entry.signedAt)
            json.key("receivedAt")
            json.value(entry.receivedAt)
            guard let bytes = entry.bytes else { return }
            // Unchanged: a JWS is text. A receipt was sent in Base64.
            let isReceipt = entry.kind == "\(Artifact.Kind.receipt)"
            json.key(isReceipt ? "base64" : "jws")
            json.value(String(decoding: isReceipt ? Base64.standard.encode(bytes) : bytes, as: UTF8.self))
        }
    }

    mutating func value(_ device: CustomerDetails.Device) {
        object { json in
            json.key("device")
            json.value(device.device)
            json.key("firstSeen")
            json.value(device.firstSeen)
            json.key("lastSeen")
            json.value(device.lastSeen)
            json.key("entitlementTokens")
            json.value(device.entitlementTokens)
        }
    }

    mutating func value(_ session: CustomerDetails.TrialSession) {
        object { json in
            json.key("entitlement")
            json.value(session.entitlement)
            json.key("session")
            json.value(session.session)
            json.key("beganAt")
            json.value(session.beganAt)
        }
    }

    mutating func optional(_ name: String, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    mutating func value(_ entry: AuditEntry) {
        object { json in
            json.key("id")
            json.value(entry.id)
            json.key("at")
            json.value(entry.at)
            json.key("actor")
            json.value(entry.actor)
            json.key("action")
            json.value(entry.action)
            json.optional("customer", entry.customer)
            json.key("detail")
            json.value(entry.detail)
        }
    }

    /// Writes an object with sorted names.
    package mutating func value(_ texts: [String: String]) {
        object { json in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                json.key(name)
                json.value(text)
            }
        }
    }

    /// Writes a page of a list; `next` is the position from which the following one continues.
    mutating func page<Element>(
        _ name: String, of elements: [Element], next: Int64?, _ body: (inout JSONWriter, Element) -> Void
    ) {
        object { json in
            json.key(name)
            json.array(elements, body)
            json.key("next")
            if let next { json.value(next) } else { json.null() }
        }
    }
}
