public import Foundation

/// Rule H: a right that an era once gave, kept against policy edits.
public struct Promise: Sendable, Hashable {
    public let entitlement: String
    public let acquisition: AcquisitionKey
    /// The version of the policy that gave it, by which the acquisition's present evidence is judged.
    public let policy: Policy
    /// Nil: for good.
    public let until: Date?

    package init(entitlement: String, acquisition: AcquisitionKey, policy: Policy, until: Date?) {
        self.entitlement = entitlement
        self.acquisition = acquisition
        self.policy = policy
        self.until = until
    }

    /// It holds until the acquisition's present evidence, judged by the version that gave it, gives nothing. Evidence
    /// that is absent or does not tell ends nothing, nor does another acquisition.
    func answer(for evidence: Evidence, at now: Date) -> SourceAnswer? {
        guard until.holds(at: now) else { return nil }
        if let present = evidence.acquisitions.first(where: { $0.key.matches(acquisition) }),
            let promised = policy.entitlement(named: entitlement),
            case .nothing = EraSource(present, under: policy, at: now).answer(for: promised)
        {
            return .nothing(.promiseEnded)
        }
        return .gives(until: until, .promise(until: until))
    }
}
