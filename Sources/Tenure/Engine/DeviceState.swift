import Foundation
import TenureCore

/// Everything that the client knows on this device: the stored state, and what it has read since the app started.
///
/// It isn't Sendable. The engine's actor owns it, and shares it with the types that read the App Store and ask the
/// service.
final class DeviceState {
    let setup: Setup
    let customerState: CustomerState
    // `load()` sets the next three properties again.
    private(set) var tokenReader: EntitlementTokenReader
    /// The hash of the device verification ID. Nil if StoreKit doesn't provide the ID.
    private(set) var deviceID: String?
    /// The stored state, merged with what other processes write.
    var state: WorkingState
    /// The current value of `state`.
    var stored: StoredState {
        get { state.current }
        set { state.current = newValue }
    }
    /// What was read from the App Store since the app started.
    var snapshot = AppStoreSnapshot()
    /// What else the answers depend on, such as the policy and the service's response.
    var facts: Facts
    /// The token of the service's last response, which gives access to the service's API until it expires by this
    /// device's clock. Nil until the service has sent one since the app started.
    var accessToken: (value: String, expiresAt: Date)?
    /// The latest time that this device had observed when the current search of the App Store began.
    var searchFloor = Date.distantPast
    /// The number of times that new evidence (verified facts from the App Store) was added.
    private(set) var evidenceChanges = 0
    /// The stream of `Engine.changes()`, which is notified of everything that may change a right.
    var changesContinuation: AsyncStream<Void>.Continuation?
    private var isLoaded = false

    /// Creates the state of a client that has read nothing yet. Never blocks.
    ///
    /// - Parameter policy: the app's policy, or why it can't be used. A nil policy means that the app has none.
    init(_ setup: Setup, policy: Result<Policy?, Tenure.Error>) {
        self.setup = setup
        tokenReader = EntitlementTokenReader(keys: KeyRing(setup.keys, root: setup.root), trustsTestAuthorities: false)
        facts = Facts(policy)
        if facts.policy != nil { snapshot.note(.policy, .done) }
        if let error = facts.policyError {
            snapshot.note(.policy, .failed("\(error)"))
            setup.options.log.error("\(error)")
        }
        let clock = setup.clock()
        state = WorkingState(setup.location, device: nil, distribution: .appStore, persona: nil, clock: clock)
        customerState = CustomerState(
            CustomerState.Snapshot(
                customer: Tenure.Customer(policyError: facts.policyError, optionsError: setup.optionsError),
                floor: clock,
                graceEnds: setup.grace(under: facts.policy, facts.policyError).map { clock.addingTimeInterval($0) },
                allowsEverything: setup.isListening),
            clock: setup.clock, waitUntil: setup.waitUntil)
    }

    /// Reads how the app was installed, which device this is, and the stored state. Does nothing the second time.
    func load() {
        guard !isLoaded else { return }
        isLoaded = true
        let access = setup.access
        facts.distribution = access.distribution
        deviceID = access.deviceVerificationID?.hashed
        let trustsTestAuthorities = access.trustsTestAuthorities
        tokenReader = EntitlementTokenReader(keys: tokenReader.keys, trustsTestAuthorities: trustsTestAuthorities)
        if trustsTestAuthorities || facts.distribution == .testFlight { facts.persona = setup.options.persona }
        let clock = setup.clock()
        state = WorkingState(
            setup.location, device: deviceID, distribution: facts.distribution, ownsState: setup.ownsState,
            persona: facts.persona?.storedName, clock: clock)
        snapshot.note(state.reload(at: clock), log: setup.options.log)
        readStoredToken(at: clock)
        post()
    }

    /// Returns an evaluation of everything that is known now.
    func evaluation() -> Evaluation {
        Evaluation(setup: setup, facts: facts, stored: stored, snapshot: snapshot, clock: setup.clock())
    }

    /// Evaluates what is known now, and publishes the answers.
    func post() {
        customerState.post(evaluation().customerSnapshot)
        changesContinuation?.yield()
    }

    /// The IDs of the app's products: from the policy, or else from the service's list of products.
    var productIDs: [String] {
        let known = facts.policy?.entitlements.flatMap { $0.products.map(\.id) } ?? []
        return known.isEmpty ? (stored.catalog?.catalog?.ids ?? []) : Array(Set(known)).sorted()
    }

    /// The products to request if StoreKit lists no purchases: `productIDs`, or else the products that unlock packs.
    /// Without a product to request, an empty list doesn't show whether the App Store responded.
    var productIDsToRequest: [String] { productIDs.isEmpty ? facts.contentProducts.sorted() : productIDs }

    /// Whether the client may read `AppTransaction.shared`.
    ///
    /// A development build has no app transaction, and reading the app transaction may show a sign-in. A development
    /// build with a persona (a test customer) reads it anyway, because a persona is used only together with a signed
    /// app transaction.
    var mayReadAppTransaction: Bool {
        facts.distribution.hasAppTransaction
            || (facts.distribution == .development && facts.persona != nil && setup.host.mayPrompt)
    }

    /// Stores which entitlements are denied and which are granted. A denial is kept until there is new evidence. The
    /// grants are used if a later release of the app can't read its policy.
    func storeOutcomes() {
        let evaluation = evaluation()
        for (name, answer) in evaluation.answers.merging(evaluation.productAnswers, uniquingKeysWith: { $1 }) {
            switch answer.outcome {
            case .denied: stored.account.denials.insert(name)
            case .granted: stored.account.denials.remove(name)
            case .undetermined: break
            }
        }
        guard setup.service == nil, facts.policyError == nil, facts.persona == nil else { return }
        stored.account.grantedByDevice = evaluation.answers.filter { $0.value.outcome == .granted }
    }

    /// Removes the stored denials of entitlements that are granted now.
    func removeDenialsOfGranted() {
        let evaluation = evaluation()
        for answers in [evaluation.answers, evaluation.productAnswers] {
            for (name, answer) in answers where answer.outcome == .granted { stored.account.denials.remove(name) }
        }
    }

    /// Stops using the policy, because the signed app transaction is for an app with another bundle ID.
    func reject(policyOf bundleID: String, for appBundleID: String) {
        let error = Tenure.Error.policy(.otherApp(bundleID: bundleID, appBundleID: appBundleID))
        setup.options.log.error("\(error)")
        facts.policyError = error
        facts.policy = nil
        snapshot.note(.policy, .failed("\(error)"))
    }

    // MARK: Time

    /// Records the time of the clock, or a later time that a caller of `CustomerState` has observed.
    func observeClock() {
        let latest = customerState.latest
        if latest > stored.time.floor { stored.time.observe(clock: latest) }
        stored.time.observe(clock: setup.clock())
    }

    /// Corrects the known time with the date at which the App Store signed something. Does nothing if the date is nil.
    func updateTime(signedAt date: Date?) {
        guard let date else { return }
        updateTime { $0.update(signedAt: date, clock: $1) }
    }

    /// Changes the known time. Passes `change` the time of the clock, or a later time that a caller of `CustomerState`
    /// has observed.
    func updateTime(_ change: (inout DeviceTime, _ clock: Date) -> Void) {
        let floor = stored.time.floor
        // If a caller has observed a later time since this search began, use the later time. The result of the search
        // may be older than that observation, so the result can't correct the observed time.
        let latest = customerState.latest
        change(&stored.time, latest > searchFloor ? max(latest, setup.clock()) : setup.clock())
        if stored.time.floor < floor { facts.clockCorrections += 1 }
    }

    // MARK: Evidence

    /// Counts new evidence. Forgets when the service answered, and the stored denials, because neither covers the new
    /// evidence.
    func noteNewEvidence() {
        evidenceChanges += 1
        stored.account.answeredAt = nil
        stored.account.denials = []
    }

    /// Discards everything about the account, because another account is signed in.
    func discardAccount() {
        stored.discardAccount()
        discardReadings()
        facts.claims = nil
    }

    /// Discards everything that this process has read about the previous account, and the service's response about it.
    func discardReadings() {
        facts.accountChanges += 1
        snapshot.appTransaction = nil
        snapshot.transactions = nil
        snapshot.renewals = []
        snapshot.knowsRenewals = false
        facts.freshAnswers = nil
        accessToken = nil
    }
}

/// Everything that the answers depend on, except for the stored state and what was read from the App Store.
struct Facts {
    /// How this copy of the app was installed.
    var distribution = Tenure.Distribution.appStore
    /// The test customer that replaces the real customer. Nil in every copy from the App Store.
    var persona: Tenure.Persona?
    /// The policy in use. Nil if the app has none, or if it can't be used.
    var policy: Policy?
    /// Why the policy can't be used. Nil if it can be, or if the app has no policy.
    var policyError: Tenure.Error?
    /// The versions and dates that the app registered with `Tenure.register`.
    var versionRights = Tenure.VersionRights()
    /// Products that unlock asset packs directly, without an entitlement.
    var contentProducts: Set<String> = []
    /// The contents of the stored entitlement token, which the service signed. Nil if there is no valid token.
    var claims: EntitlementTokenClaims?
    /// The service's answers about what the device has read from the App Store by now, by entitlement. Nil if the
    /// service wasn't asked since the app started, or didn't respond.
    var freshAnswers: [String: Tenure.Answer]?
    /// The time when the last search ended, by the device's clock. In a search, the engine asks the App Store, and the
    /// service if there is one. Nil until the first search since the app started has ended.
    var checkedAt: Date?
    /// How many searches have finished since the app started.
    var finishedSearches = 0
    var hasFinishedSearch: Bool { finishedSearches > 0 }
    /// How many times the known time was set back, because a newly signed value or the service showed that the clock
    /// had been wrong.
    var clockCorrections = 0
    /// How many times another Apple Account replaced the known account.
    var accountChanges = 0

    /// - Parameter policy: the app's policy, or why it can't be used. A nil policy means that the app has none.
    init(_ policy: Result<Policy?, Tenure.Error>) {
        switch policy {
        case .success(let policy): self.policy = policy
        case .failure(let error): policyError = error
        }
    }
}
