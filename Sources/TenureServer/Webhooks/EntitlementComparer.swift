import Foundation
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
    /// How many seconds before the end of an entitlement the message `entitlement.expiring` is due.
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
            // What is stored as sent. `isExpiring` is true if the receiver knows that the end is near, and otherwise
            // nil.
            var right = SentEntitlements.Right(until: decision.until)
            if sentRight == nil || sentRight?.until != right.until {
                messages.append(Message(.entitlementGranted, decision))
                // This message contains the end, so `entitlement.expiring` isn't needed too.
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
