public import Foundation

/// Whether a customer may use one entitlement, with the reasons. `decide` creates decisions.
public struct Decision: Sendable, Hashable {
    /// The three possible outcomes of a decision.
    public enum Outcome: String, Sendable, Hashable, CaseIterable, Encodable {
        /// The customer may use the entitlement.
        case granted
        /// The customer may not use the entitlement, and no missing evidence could change that.
        case denied
        /// The evidence isn't sufficient. This is neither an error nor a denial.
        case undetermined
    }

    /// The name of the entitlement in the policy.
    public let entitlement: String
    /// Whether the customer may use the entitlement, as far as the evidence decides.
    public let outcome: Outcome
    /// The instant at which a granted right ends. Nil if the right is permanent, or isn't granted.
    public let until: Date?
    /// The deciding reason first, then further reasons.
    public var reasons: [Reason] { findings.map { Reason(finding: $0, context: context) } }
    /// Passes each reason to `body` without allocating an array.
    package func forEachReason(_ body: (Reason) -> Void) {
        for finding in findings { body(Reason(finding: finding, context: context)) }
    }
    /// The deciding reason alone.
    package var leadingReason: Reason? { findings.first.map { Reason(finding: $0, context: context) } }
    /// The steps that can turn an undetermined decision into a granted or a denied one.
    public let nextSteps: [NextStep]
    /// The rights that eras give in production. The service stores each as a promise, so that a later version of the
    /// policy can't take it.
    public let eraRights: [EraRight]
    /// Whether a promise lasts at least as long as the granted right.
    private(set) var isPromised: Bool
    /// The title that customers see. If it is nil, sentences use the entitlement's name.
    let title: Title?

    /// Whether the right ends by itself at `until`, because it comes from a subscription or a purchase of limited
    /// length.
    public var endsByItself: Bool { until != nil && findings.first?.isOfProduct == true }

    /// The reasons in the compact form that the rules use, the deciding reason first.
    let findings: [Finding]
    /// The values to which `findings` refer by index.
    let context: Reason.Context

    /// Updates `isPromised` after the service has stored the decision's era rights as promises.
    package mutating func recordPromises() {
        if outcome == .granted, eraRights.contains(where: { !until.outlasts($0.until) }) { isPromised = true }
    }

    /// `isPromised` and the title aren't compared.
    public static func == (left: Decision, right: Decision) -> Bool {
        left.entitlement == right.entitlement && left.outcome == right.outcome && left.until == right.until
            && left.reasons == right.reasons && left.nextSteps == right.nextSteps && left.eraRights == right.eraRights
    }

    /// Hashes only three of the compared properties, which is faster.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entitlement)
        hasher.combine(outcome)
        hasher.combine(until)
    }
}

/// A right that an era gives to one acquisition.
public struct EraRight: Sendable, Hashable {
    /// Which purchase of the app gives the right, by the ID of its app transaction or by its date.
    public let acquisition: AcquisitionKey
    /// When the right ends, exclusive; nil if it is permanent.
    public let until: Date?
}

/// A step that can turn an undetermined decision into a granted or a denied one.
public enum NextStep: String, Sendable, Hashable, CaseIterable, Encodable {
    /// An app transaction of the customer (`AppTransaction.shared`).
    case appTransaction
    /// A refreshed receipt, which has version and date. Refresh the receipt only after a tap by the customer, because
    /// the refresh may show a sign-in.
    case refreshedReceipt
    /// The complete list of purchases: StoreKit's enumeration, or a tap on Restore Purchases.
    case purchases
    /// A grant or revocation by support, because no signed artifact can resolve the decision.
    case support
}

/// Next steps in their order, without duplicates.
struct NextSteps {
    private(set) var list: [NextStep] = []

    mutating func add(_ steps: [NextStep]) { for step in steps where !list.contains(step) { list.append(step) } }
}
