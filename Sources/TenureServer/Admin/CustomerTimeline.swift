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
    /// Names and values in the order of the response. Dates are in RFC 3339.
    let fields: [(name: String, value: String)]

    /// Creates an entry. Fields without a value are left out.
    init(at: Date, _ kind: String, _ fields: [(String, String?)] = []) {
        self.at = at
        self.kind = kind
        self.fields = fields.compactMap { name, value in value.map { (name, $0) } }
    }
}

extension JSONWriter {
    mutating func value(_ entry: TimelineEntry) {
        object { json in
            json.field("at", entry.at)
            json.field("kind", entry.kind)
            for field in entry.fields { json.field(field.name, field.value) }
        }
    }
}

extension CustomerDetails {
    /// Everything that has a date, oldest first. Entries with the same date are in the order of `entriesByKind`.
    var timeline: [TimelineEntry] {
        let evidence = customer.evidence
        let entriesByKind = [
            evidence.acquisitions.compactMap(TimelineEntry.init(acquisition:)),
            evidence.purchases.flatMap(TimelineEntry.entries(of:)),
            artifacts.map { TimelineEntry(artifact: $0) },
            notifications.map { TimelineEntry(notification: $0) },
            promises.map { TimelineEntry(promise: $0) },
            events.map { TimelineEntry(event: $0) },
            support.map { TimelineEntry(support: $0) },
            trialSessions.map { TimelineEntry(at: $0.beganAt, "trialSession", [("entitlement", $0.entitlement)]) },
        ]
        let entries = entriesByKind.flatMap { $0 }.enumerated()
        return entries.sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}

extension TimelineEntry {
    /// Creates the entry of an acquisition of the app; nil if its date is unknown.
    fileprivate init?(acquisition: Acquisition) {
        guard let date = acquisition.originalPurchaseDate else { return nil }
        self.init(
            at: date, "acquired",
            [
                ("platform", acquisition.originalPlatform?.rawValue), ("version", acquisition.originalAppVersion),
                ("appTransactionID", acquisition.key.appTransactionID), ("downloadID", acquisition.key.downloadID),
            ])
    }

    /// Returns the entries of a purchase: the purchase itself and its refund, as far as their dates are known.
    fileprivate static func entries(of purchase: Purchase) -> [TimelineEntry] {
        let fields: [(String, String?)] = [
            ("product", purchase.productID), ("transactionID", purchase.transactionID),
        ]
        var entries: [TimelineEntry] = []
        if let date = purchase.purchaseDate {
            entries.append(
                TimelineEntry(at: date, "purchase", fields + [("expires", purchase.expiresDate?.rfc3339)]))
        }
        if let date = purchase.revocationDate { entries.append(TimelineEntry(at: date, "refund", fields)) }
        return entries
    }

    fileprivate init(artifact: CustomerDetails.SignedEntry) {
        self.init(
            at: artifact.receivedAt, "artifact",
            [("artifact", artifact.kind), ("signed", artifact.signedAt?.rfc3339)])
    }

    fileprivate init(notification: CustomerDetails.SignedEntry) {
        self.init(
            at: notification.receivedAt, "notification",
            [
                ("type", notification.kind), ("subtype", notification.subtype),
                ("signed", notification.signedAt?.rfc3339),
            ])
    }

    fileprivate init(promise: StoredPromise) {
        self.init(
            at: promise.recordedAt, "promise",
            [
                ("entitlement", promise.entitlement), ("policy", String(promise.policyVersion)),
                ("until", promise.until?.rfc3339),
            ])
    }

    fileprivate init(support: StoredSupportGrant) {
        self.init(
            at: support.grant.date, support.grant.kind.rawValue,
            [
                ("entitlement", support.grant.entitlement), ("until", support.grant.until?.rfc3339),
                ("reason", support.reason), ("actor", support.actor),
            ])
    }

    fileprivate init(event: StoredEvent) {
        self.init(
            at: event.at, event.kind.rawValue,
            event.detail.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + [("actor", event.actor)])
    }
}
