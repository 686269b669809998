package import TenureCore

/// What one act adds to a customer's record: the ledger's new entries and what they prove, in step.
package struct Amendment: Sendable {
    /// All that is proven afterwards.
    package private(set) var facts: CustomerFacts
    package private(set) var artifacts: [Artifact] = []
    package private(set) var identities: [Identity] = []
    package private(set) var promises: [RecordedPromise] = []
    /// What the world is told of it.
    package var announcement = Announcement.later
    /// What it is told besides, whoever compares what the customer may use.
    package var messages: [Message] = []
    /// The version of the policy that made its promises and its announcement; nil where none did. The act fails where
    /// another one decides meanwhile.
    package var judgedUnder: Int64?
    package private(set) var sighting: DeviceSighting?
    /// Work that is to follow, once for each customer and kind.
    package var jobs: Set<RecordedJob.Kind> = []
    /// The same, where the device that it sees was not seen on this customer before.
    package var jobsForNewDevice: Set<RecordedJob.Kind> = []
    /// Whether all purchases of the account that was named were seen.
    private(set) var completesPurchases = false
    private let othersAreComplete: Bool

    /// `customer` is nil for one who is not known yet.
    package init(of customer: Customer?) {
        facts = customer?.facts ?? CustomerFacts()
        othersAreComplete = customer?.othersAreComplete ?? true
    }

    /// With facts that replace what was known.
    package init(facts: CustomerFacts) {
        self.facts = facts
        othersAreComplete = true
    }

    /// Each artifact stands in the ledger once, however often it comes.
    package mutating func add(
        _ new: [Artifact], proving proofs: [AppProof] = [], purchases: [Purchase] = [], renewals: [Renewal] = []
    ) {
        artifacts += new
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
    }

    /// How many entries it has.
    var size: Int { artifacts.count + facts.purchases.count + facts.renewals.count }

    package mutating func identify(by more: some Sequence<Identity>) {
        identities += more
    }

    /// That all purchases of the account were seen. Who turned out to have several is known completely when each is.
    package mutating func completePurchases() {
        completesPurchases = true
        if othersAreComplete { facts.purchasesAreComplete = true }
    }

    /// That what was added was proven to come from this device.
    package mutating func see(_ device: DeviceSighting) {
        sighting = device
    }

    /// What support did to whom it is about.
    mutating func keep(_ support: [SupportAct]) {
        for act in support { facts.add(act) }
    }

    /// That these are the facts of an unbound record.
    mutating func leaveUnbound() { facts.isUnbound = true }

    package mutating func promise(_ more: [RecordedPromise]) {
        for promise in more { self.promise(promise) }
    }

    package mutating func promise(_ promise: RecordedPromise) {
        guard !facts.promises.contains(where: { promise.repeats($0) }) else { return }
        facts.add([promise])
        promises.append(promise)
    }
}
