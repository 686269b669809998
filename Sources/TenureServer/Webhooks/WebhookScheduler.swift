import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// Decides which webhooks a customer's entitlements need: it compares them with what was sent last.
///
/// Each change of a customer calls it inside its transaction. The database marks customers whom another change reached,
/// and `AnnouncementService` compares those later.
struct WebhookScheduler: Sendable {
    let policies: ActivePolicy
    /// Seconds before the end of an entitlement at which `entitlement.expiring` is sent.
    let notice: TimeInterval

    init(_ policies: ActivePolicy, _ terms: WebhookTerms) {
        self.policies = policies
        notice = TimeInterval(terms.expiringDays) * 86_400
    }

    /// `known` as the act found them, nil for somebody new; `decisions` as the act leaves them.
    ///
    /// A customer of whom nothing was ever told is taken as told, so that the first webhook does not tell of everybody.
    /// Throws where a promise rests on a policy that this process does not know.
    func announcement(
        of known: Customer?, decisions: [Decision], at now: Date
    ) throws(Problem) -> EntitlementChange {
        let before: SentEntitlements
        if let known {
            if let announced = known.sentEntitlements {
                before = announced
            } else {
                before = SentEntitlements(try policies.decide(known.facts, known.evidence, at: now))
            }
        } else {
            before = SentEntitlements()
        }
        return announcement(before: before, after: decisions, at: now)
    }

    /// Of a customer whom nothing changed but time, or an act that did not ask.
    func announcement(of customer: Customer, at now: Date) throws(Problem) -> EntitlementChange {
        let decisions = try policies.decide(customer.facts, customer.evidence, at: now)
        return try announcement(of: customer, decisions: decisions, at: now)
    }

    func announcement(before: SentEntitlements, after decisions: [Decision], at now: Date) -> EntitlementChange {
        var messages: [Message] = []
        var after = SentEntitlements()
        var looks: [Date] = []
        for decision in decisions {
            let old = before.rights[decision.entitlement]
            guard decision.outcome == .granted else {
                if old != nil { messages.append(Message(.entitlementRevoked, decision)) }
                continue
            }
            var right = SentEntitlements.Right(until: decision.until)
            if old?.until != right.until || old == nil {
                messages.append(Message(.entitlementGranted, decision))
                // Whoever hears of an end that is near has heard that it is near.
                right.isExpiring = isNear(decision.until, at: now) ? true : nil
            } else {
                right.isExpiring = old?.isExpiring
                if right.isExpiring != true, isNear(decision.until, at: now) {
                    messages.append(Message(.entitlementExpiring, decision))
                    right.isExpiring = true
                }
            }
            after.rights[decision.entitlement] = right
            if let until = decision.until {
                looks.append(right.isExpiring == true ? until : until.addingTimeInterval(-notice))
            }
        }
        // What the policy does not know any more, and nobody was promised.
        let named = Set(decisions.map(\.entitlement))
        for entitlement in before.rights.keys.sorted() where !named.contains(entitlement) {
            messages.append(Message(.entitlementRevoked, removed: entitlement))
        }
        return .told(messages, after, nextLook: looks.min())
    }

    private func isNear(_ end: Date?, at now: Date) -> Bool {
        end.map { $0.addingTimeInterval(-notice) <= now } ?? false
    }
}

extension Message {
    fileprivate init(_ kind: Kind, _ decision: Decision) {
        var json = JSONWriter()
        json.value(decision, namesEntitlement: true)
        self.init(kind, data: json.bytes)
    }

    fileprivate init(_ kind: Kind, removed entitlement: String) {
        var json = JSONWriter()
        json.object { json in
            json.key("entitlement")
            json.value(entitlement)
            json.key("outcome")
            json.value(Decision.Outcome.denied.rawValue)
            json.key("until")
            json.null()
            json.key("reasons")
            json.value([String]())
            json.key("sentence")
            json.value("“\(entitlement)” is no longer offered.")
            json.key("nextSteps")
            json.value([String]())
        }
        self.init(kind, data: json.bytes)
    }
}
