import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// Writes what the database stores about a customer, in responses and exports.
extension JSONWriter {
    /// Writes one of the customers who were merged.
    mutating func value(_ member: CustomerDetails.Member) {
        object { json in
            json.field("id", member.publicID)
            json.field("createdAt", member.createdAt)
        }
    }

    mutating func value(_ identity: Identity) {
        object { json in
            json.field("kind", "\(identity.kind)")
            json.field("value", identity.value)
        }
    }

    /// Writes a promise: a recorded right to an entitlement, which later policy edits can't take.
    mutating func value(_ promise: StoredPromise) {
        object { json in
            json.field("entitlement", promise.entitlement)
            json.field("policy", promise.policyVersion)
            json.field("until", promise.until)
            json.field("recordedAt", promise.recordedAt)
            json.object("acquisition") { json in
                json.field("appTransactionID", ifPresent: promise.acquisition.appTransactionID)
                json.field("downloadID", ifPresent: promise.acquisition.downloadID)
                json.field("originalPurchaseDate", promise.acquisition.originalPurchaseDate)
            }
        }
    }

    mutating func value(_ support: StoredSupportGrant) {
        object { json in
            json.field("kind", support.grant.kind.rawValue)
            json.field("entitlement", support.grant.entitlement)
            json.field("at", support.grant.date)
            json.field("until", support.grant.until)
            json.field("reason", ifPresent: support.reason)
            json.field("actor", ifPresent: support.actor)
        }
    }

    mutating func value(_ event: StoredEvent) {
        object { json in
            json.field("kind", event.kind.rawValue)
            json.field("at", event.at)
            json.field("actor", ifPresent: event.actor)
            json.field("detail", event.detail)
        }
    }

    /// Writes an artifact or a notification.
    mutating func value(_ entry: CustomerDetails.SignedEntry) {
        object { json in
            json.field("kind", entry.kind)
            json.field("subtype", ifPresent: entry.subtype)
            json.field("signedAt", entry.signedAt)
            json.field("receivedAt", entry.receivedAt)
            guard let bytes = entry.bytes else { return }
            // The bytes as they were received. A receipt is binary, so it is in Base64. All others are JWS, which is
            // text.
            let isReceipt = entry.kind == "\(Artifact.Kind.receipt)"
            json.field(
                isReceipt ? "base64" : "jws",
                String(decoding: isReceipt ? Base64.standard.encode(bytes) : bytes, as: UTF8.self))
        }
    }

    mutating func value(_ device: CustomerDetails.Device) {
        object { json in
            json.field("device", device.device)
            json.field("firstSeen", device.firstSeen)
            json.field("lastSeen", device.lastSeen)
            json.field("entitlementTokens", device.entitlementTokens)
        }
    }

    mutating func value(_ session: CustomerDetails.TrialSession) {
        object { json in
            json.field("entitlement", session.entitlement)
            json.field("session", session.session)
            json.field("beganAt", session.beganAt)
        }
    }

    mutating func value(_ entry: AuditEntry) {
        object { json in
            json.field("id", entry.id)
            json.field("at", entry.at)
            json.field("actor", entry.actor)
            json.field("action", entry.action)
            json.field("customer", ifPresent: entry.customer)
            json.field("detail", entry.detail)
        }
    }

    /// Writes a page of a list.
    ///
    /// - Parameters:
    ///   - name: The name of the list's field.
    ///   - next: The position from which the following page continues; nil on the last page.
    mutating func page<Element>(
        _ name: String, of elements: [Element], next: Int64?, _ body: (inout JSONWriter, Element) -> Void
    ) {
        object { json in
            json.field(name, elements, body)
            json.field("next", orNull: next)
        }
    }
}
