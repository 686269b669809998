import Foundation
import TenureCore
import TenureJSON
import TenureStore

/// Something that happened to a customer, as support sees it.
struct TimelineEntry: Sendable {
    /// The date of the event; for artifacts and notifications, when the service received them.
    let at: Date
    /// What happened, such as `acquired`, `purchase` or `refund`.
    let kind: String
    /// Names and values in the order of the response, which leaves out fields without a value. Dates are in RFC 3339.
    let fields: [(String, String?)]
}

extension JSONWriter {
    mutating func fields(of entry: TimelineEntry) {
        field("at", entry.at)
        field("kind", entry.kind)
        for (name, value) in entry.fields { field(name, ifPresent: value) }
    }
}

extension CustomerDetails {
    /// Everything that has a date, oldest first.
    var timeline: [TimelineEntry] {
        var entries: [TimelineEntry] = []
        /// Adds what happened at a date; nothing if the date is unknown.
        func add(_ kind: String, at date: Date?, _ fields: [(String, String?)]) {
            if let date { entries.append(TimelineEntry(at: date, kind: kind, fields: fields)) }
        }
        let evidence = customer.evidence
        for acquisition in evidence.acquisitions {
            add(
                "acquired", at: acquisition.originalPurchaseDate,
                [
                    ("platform", acquisition.originalPlatform?.rawValue), ("version", acquisition.originalAppVersion),
                    ("appTransactionID", acquisition.key.appTransactionID), ("downloadID", acquisition.key.downloadID),
                ])
        }
        for purchase in evidence.purchases {
            let fields: [(String, String?)] = [
                ("product", purchase.productID), ("transactionID", purchase.transactionID),
            ]
            add("purchase", at: purchase.purchaseDate, fields + [("expires", purchase.expiresDate?.rfc3339)])
            add("refund", at: purchase.revocationDate, fields)
        }
        for artifact in artifacts {
            let signed = artifact.signedAt?.rfc3339
            add("artifact", at: artifact.receivedAt, [("artifact", artifact.kind), ("signed", signed)])
        }
        for notification in notifications {
            let (subtype, signed) = (notification.subtype, notification.signedAt?.rfc3339)
            add(
                "notification", at: notification.receivedAt,
                [("type", notification.kind), ("subtype", subtype), ("signed", signed)])
        }
        // A promise is a recorded right to an entitlement, which later policy edits can't take.
        for promise in promises {
            let (policy, until) = (String(promise.policyVersion), promise.until?.rfc3339)
            add(
                "promise", at: promise.recordedAt,
                [("entitlement", promise.entitlement), ("policy", policy), ("until", until)])
        }
        for event in events {
            let detail: [(String, String?)] = event.detail.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            add(event.kind.rawValue, at: event.at, detail + [("actor", event.actor)])
        }
        for stored in support {
            add(
                stored.grant.kind.rawValue, at: stored.grant.date,
                [
                    ("entitlement", stored.grant.entitlement), ("until", stored.grant.until?.rfc3339),
                    ("reason", stored.reason), ("actor", stored.actor),
                ])
        }
        for trial in trialSessions { add("trialSession", at: trial.beganAt, [("entitlement", trial.entitlement)]) }
        // Entries with the same date stay in the order in which they were added.
        return entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}
