package import TenureCore

/// What one update adds to a customer: new artifacts, and the facts that they prove.
package struct CustomerUpdate: Sendable {
    /// All facts of the customer after the update.
    package private(set) var facts: CustomerFacts
    /// The artifacts to store, unless they are stored already.
    package private(set) var artifacts: [Artifact] = []
    /// Identities by which later syncs and requests find the customer.
    package private(set) var identities: [Identity] = []
    /// The promises (rights that later policies can't take, `StoredPromise`) that the update adds.
    package private(set) var promises: [StoredPromise] = []
    /// What webhooks report about the customer's entitlements.
    package var entitlementChange = EntitlementChange.later
    /// Messages to webhooks besides changed entitlements.
    package var messages: [Message] = []
    /// The version of the policy under which the update was decided; nil if it doesn't depend on a policy. Saving
    /// throws `policyChanged` if another policy has taken effect since, but only if the update stores promises or
    /// changes what webhooks report.
    package var policyVersion: Int64?
    /// The device that the artifacts were proven to come from; nil without such a proof.
    private(set) var deviceUse: DeviceUse?
    /// Whether to add a job that fetches the customer's purchases from the App Store. There is at most one such job for
    /// each member (row of `customers`).
    package var fetchesHistory = false
    /// Whether to add that job if the device is new to this customer.
    package var fetchesHistoryForNewDevice = false
    /// Whether all purchases of the account that the artifacts come from are known.
    private(set) var completesPurchases = false
    /// Whether all purchases of the customer's other accounts are known.
    private var otherAccountsAreComplete = true

    /// - Parameter customer: the customer before the update; nil for a new customer.
    package init(of customer: Customer?) {
        facts = customer?.facts ?? CustomerFacts()
        otherAccountsAreComplete = customer?.otherAccountsAreComplete ?? true
    }

    /// Creates an update with facts that replace the customer's facts.
    package init(facts: CustomerFacts) { self.facts = facts }

    /// Adds artifacts and what they prove. Each artifact is stored once, however often it's sent.
    package mutating func add(
        _ new: [Artifact], proving proofs: [AppProof] = [], purchases: [Purchase] = [], renewals: [Renewal] = []
    ) {
        artifacts += new
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
    }

    /// How many artifacts, purchases and renewals the update has.
    var size: Int { artifacts.count + facts.purchases.count + facts.renewals.count }

    /// Adds identities by which later syncs and requests find the customer.
    package mutating func identify(by more: some Sequence<Identity>) { identities += more }

    /// Records that all purchases of the account that the artifacts come from are known. The customer's purchases are
    /// complete if the purchases of all their accounts are known.
    package mutating func completePurchases() {
        completesPurchases = true
        if otherAccountsAreComplete { facts.purchasesAreComplete = true }
    }

    /// Records that the artifacts were proven to come from this device.
    package mutating func addUse(of device: DeviceUse) { deviceUse = device }

    /// Adds grants and revocations by support.
    mutating func add(_ support: [SupportGrant]) {
        for grant in support { facts.add(grant) }
    }

    /// Makes the facts those of an unbound customer (`DatabaseTransaction`).
    mutating func setUnbound() { facts.isUnbound = true }

    /// Adds promises that the customer doesn't have yet.
    package mutating func promise(_ more: [StoredPromise]) {
        for promise in more { self.promise(promise) }
    }

    /// Adds a promise, unless the customer has it already.
    package mutating func promise(_ promise: StoredPromise) {
        guard !facts.promises.contains(where: { promise.repeats($0) }) else { return }
        facts.add([promise])
        promises.append(promise)
    }
}
