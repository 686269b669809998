import Foundation
import Logging
import ServiceLifecycle
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// Compares a customer's entitlements with what webhooks last reported, and decides which messages to send.
///
/// Syncs and notifications compare the customer's entitlements inside their transaction. Other changes only mark the
/// customer in the database, and `EntitlementChangeService` compares the entitlements of marked customers soon.
struct EntitlementComparer: Sendable {
    let policies: ActivePolicy
    /// How many seconds before the end of an entitlement `entitlement.expiring` is sent.
    let notice: TimeInterval

    /// Returns the messages about a customer after an update.
    ///
    /// If nothing was ever sent about a customer, their entitlements before the update are treated as sent. Otherwise
    /// the service's first webhook would get messages about all customers. Throws if a promise of the customer (a
    /// stored right) refers to a version of the policy that this process hasn't read yet.
    ///
    /// - Parameters:
    ///   - storedCustomer: The customer before the update; nil for a new customer.
    ///   - decisions: The decisions after the update.
    func entitlementChange(
        of storedCustomer: Customer?, decisions: [Decision], at now: Date
    ) throws(Problem) -> EntitlementChange {
        let before: SentEntitlements =
            if let sent = storedCustomer?.sentEntitlements {
                sent
            } else if let storedCustomer {
                SentEntitlements(try policies.decide(storedCustomer.facts, storedCustomer.evidence, at: now))
            } else {
                SentEntitlements()
            }
        return entitlementChange(before: before, after: decisions, at: now)
    }

    /// Returns the messages about a stored customer. The customer's entitlements may have changed with time, or by an
    /// update that queued no messages.
    func entitlementChange(of customer: Customer, at now: Date) throws(Problem) -> EntitlementChange {
        let decisions = try policies.decide(customer.facts, customer.evidence, at: now)
        return try entitlementChange(of: customer, decisions: decisions, at: now)
    }

    /// Returns the messages for the differences between what was last sent and the decisions now.
    func entitlementChange(before: SentEntitlements, after decisions: [Decision], at now: Date) -> EntitlementChange {
        var messages: [Message] = []
        var after = SentEntitlements()
        // The dates at which messages are due without an update: the end of an entitlement, or the time to announce the
        // end.
        var nextComparisons: [Date] = []
        for decision in decisions {
            let sentRight = before.rights[decision.entitlement]
            guard decision.outcome == .granted else {
                if sentRight != nil { messages.append(Message(.entitlementRevoked, decision)) }
                continue
            }
            var right = SentEntitlements.Right(until: decision.until)
            if sentRight?.until != right.until || sentRight == nil {
                messages.append(Message(.entitlementGranted, decision))
                // The message contains the end, so no second message is needed to say that it's near.
                right.isExpiring = isNear(decision.until, at: now) ? true : nil
            } else {
                right.isExpiring = sentRight?.isExpiring
                if right.isExpiring != true, isNear(decision.until, at: now) {
                    messages.append(Message(.entitlementExpiring, decision))
                    right.isExpiring = true
                }
            }
            after.rights[decision.entitlement] = right
            if let until = decision.until {
                nextComparisons.append(right.isExpiring == true ? until : until.addingTimeInterval(-notice))
            }
        }
        // Entitlements that the policy no longer has, and that no promise keeps, are reported as revoked.
        let decidedEntitlements = Set(decisions.map(\.entitlement))
        for entitlement in before.rights.keys.sorted() where !decidedEntitlements.contains(entitlement) {
            messages.append(Message(.entitlementRevoked, removed: entitlement))
        }
        return .reported(messages, after, nextComparison: nextComparisons.min())
    }

    /// Whether the end of an entitlement is so near that `entitlement.expiring` is due. False if there is no end.
    private func isNear(_ end: Date?, at now: Date) -> Bool {
        end.map { $0.addingTimeInterval(-notice) <= now } ?? false
    }
}

extension Message {
    /// A message with the decision about an entitlement.
    fileprivate init(_ kind: Kind, _ decision: Decision) {
        var json = JSONWriter()
        json.value(decision)
        self.init(kind, data: json.bytes)
    }

    /// A message about an entitlement for which there is no decision anymore. The message has the same fields as a
    /// message with a decision.
    fileprivate init(_ kind: Kind, removed entitlement: String) {
        let json = JSONWriter.object { json in
            json.field("entitlement", entitlement)
            json.field("outcome", Decision.Outcome.denied.rawValue)
            json.key("until")
            json.null()
            json.field("reasons", [String]())
            json.field("sentence", "“\(entitlement)” is no longer offered.")
            json.field("nextSteps", [String]())
        }
        self.init(kind, data: json)
    }
}

/// Compares customers' entitlements with what webhooks last reported, and queues messages for the differences. Also
/// removes old messages.
///
/// It compares a customer at the end of an entitlement, `expiringDays` before the end, and after an update that only
/// marked the customer for a later comparison. It compares all customers after a new policy or a new value of
/// `expiringDays`.
struct EntitlementChangeService: Service {
    let entitlementComparer: EntitlementComparer
    let store: Store
    /// How many seconds delivered and abandoned messages are kept.
    let retention: TimeInterval
    let now: @Sendable () -> Date
    /// The pause before the next search for customers to compare, if there are no more of them.
    let interval: Swift.Duration
    let logger: Logger

    /// The number of customers or messages that one transaction handles, which takes a few milliseconds.
    private static let batch = 200

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                if try await pass() { continue }
            } catch {
                logger.error(
                    "changes of entitlements can't be computed for webhooks; trying again",
                    metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    /// Compares one batch of due customers and, after a new policy or a new `expiringDays`, one batch of all customers.
    /// Removes one batch of old messages. Returns whether there is more to do immediately.
    func pass() async throws -> Bool {
        let now = now()
        try await entitlementComparer.policies.refreshNow()
        let publication = entitlementComparer.policies.inEffect.publication
        let evaluate: @Sendable (Customer) -> EntitlementChange? = {
            try? entitlementComparer.entitlementChange(of: $0, at: now)
        }
        let isMoreDue =
            try await store.compareDueCustomers(at: now, limit: Self.batch, under: publication, evaluate) == Self.batch
        let hasMoreCustomers = try await store.compareAllCustomers(
            at: now, limit: Self.batch, under: publication, evaluate)
        let keptSince = now.addingTimeInterval(-retention)
        let hasMoreOldMessages = try await store.pruneMessages(before: keptSince, limit: Self.batch) == Self.batch
        return isMoreDue || hasMoreCustomers || hasMoreOldMessages
    }
}
