public import Foundation

/// The answer for one entitlement, with why.
public struct Decision: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case granted, denied
        /// The evidence doesn't decide it. Never an error, and never a denial.
        case undetermined
    }

    public let entitlement: String
    public let outcome: Outcome
    /// The instant at which a granted right no longer holds; nil: for good.
    public let until: Date?
    /// The deciding one first, then what it rests on.
    public var reasons: [Reason] { findings.map { Reason(finding: $0, context: context) } }
    /// The same one after the other, without a list of them.
    package func forEachReason(_ body: (Reason) -> Void) {
        for finding in findings { body(Reason(finding: finding, context: context)) }
    }
    /// The deciding reason alone.
    package var leadingReason: Reason? { findings.first.map { Reason(finding: $0, context: context) } }
    /// What would resolve an undetermined answer.
    public let nextSteps: [NextStep]
    /// The rights that eras give in production, which the service stores as promises.
    public let eraRights: [EraRight]
    /// Whether a promise holds at least as long as this right, so that a later version of the policy can't end it.
    package private(set) var isPromised: Bool
    /// What customers call the entitlement. Nil: its name.
    let title: Title?

    /// Whether what gives it ends without anybody's doing: a subscription, or a purchase for a length of time.
    public var endsByItself: Bool {
        guard until != nil else { return false }
        switch findings.first {
        case .product, .gracePeriod: return true
        default: return false
        }
    }

    let findings: [Finding]
    let context: Reason.Context

    init(
        entitlement: String, title: Title? = nil, outcome: Outcome, until: Date?, findings: [Finding],
        context: Reason.Context, nextSteps: [NextStep], eraRights: [EraRight], isPromised: Bool = false
    ) {
        self.entitlement = entitlement
        self.outcome = outcome
        self.until = until
        self.findings = findings
        self.context = context
        self.nextSteps = nextSteps
        self.eraRights = eraRights
        self.title = title
        self.isPromised = isPromised
    }

    /// Takes note that its era rights are recorded as promises.
    package mutating func recordPromises() {
        if outcome == .granted, eraRights.contains(where: { !until.outlasts($0.until) }) { isPromised = true }
    }

    public static func == (left: Decision, right: Decision) -> Bool {
        left.entitlement == right.entitlement && left.outcome == right.outcome && left.until == right.until
            && left.reasons == right.reasons && left.nextSteps == right.nextSteps
            && left.eraRights == right.eraRights
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(entitlement)
        hasher.combine(outcome)
        hasher.combine(until)
    }
}

/// A right that an era gives to one acquisition.
public struct EraRight: Sendable, Hashable {
    public let acquisition: AcquisitionKey
    /// Nil: for good.
    public let until: Date?
}
