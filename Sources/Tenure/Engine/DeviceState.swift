import Foundation
import TenureCore

/// What the client knows about the customer on this device: the stored state, and what was read since the app started.
///
/// It isn't Sendable. The engine's actor owns it, and shares it with the types that read the App Store and ask the
/// service.
final class DeviceState {
    let setup: Setup
    let customerState: CustomerState
    // `load()` replaces these three.
    private(set) var tokenReader: EntitlementTokenReader
    /// The device's ID, hashed. Nil if the store doesn't name it.
    private(set) var deviceID: String?
    /// The stored state, in step with what other processes write.
    var state: WorkingState
    var memory: StoredState {
        get { state.current }
        set { state.current = newValue }
    }
    var snapshot = AppStoreSnapshot()
    var facts: Facts
    /// The access token of the service's last response.
    var token: AccessToken?
    /// The latest instant that was known when the present search began.
    var searchFloor = Date.distantPast
    /// Grows with all new evidence.
    private(set) var newsCount = 0
    /// Notified of everything that may change a right.
    var changed: AsyncStream<Void>.Continuation?
    private var isLoaded = false

    /// Reads nothing and never blocks.
    init(_ setup: Setup, policy: Result<Policy?, Tenure.Error>) {
        self.setup = setup
        tokenReader = EntitlementTokenReader(keys: KeyRing(setup.keys, root: setup.root), isRehearsal: false)
        facts = Facts(policy)
        switch policy {
        case .success(let policy): if policy != nil { snapshot.note(.policy, .done) }
        case .failure(let error):
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
        let isRehearsal = access.isRehearsal
        tokenReader = EntitlementTokenReader(keys: tokenReader.keys, isRehearsal: isRehearsal)
        if isRehearsal || facts.distribution == .testFlight { facts.persona = setup.options.persona }
        let clock = setup.clock()
        state = WorkingState(
            setup.location, device: deviceID, distribution: facts.distribution, ownsState: setup.ownsState,
            persona: facts.persona?.storedName, clock: clock)
        snapshot.note(state.reload(at: clock), log: setup.options.log)
        readStoredToken(at: clock)
        post()
    }

    func evaluation() -> Evaluation {
        Evaluation(setup: setup, facts: facts, memory: memory, snapshot: snapshot, clock: setup.clock())
    }

    func post() {
        customerState.post(evaluation().customerSnapshot)
        changed?.yield()
    }

    /// The app's products, as far as they are known.
    var productIDs: [String] {
        let known = facts.policy?.entitlements.flatMap { $0.products.map(\.id) } ?? []
        return known.isEmpty ? memory.catalog?.catalog?.ids ?? [] : Array(Set(known)).sorted()
    }

    /// Whether `AppTransaction.shared` may be asked for. A development build has none, and asking may show a sign-in.
    /// With a persona that is wanted: a persona counts beside signed evidence only.
    var asksForAppTransaction: Bool {
        facts.distribution.hasAppTransaction
            || facts.distribution == .development && facts.persona != nil && setup.host.mayPrompt
    }

    /// Stores what was denied and what was granted. A denial remains until there is new evidence. A grant remains if
    /// the next release can't read its policy.
    func noteOutcomes() {
        let evaluation = evaluation()
        for (name, answer) in evaluation.answers.merging(evaluation.productAnswers, uniquingKeysWith: { $1 }) {
            switch answer.outcome {
            case .denied: memory.account.denials.insert(name)
            case .granted: memory.account.denials.remove(name)
            case .undetermined: break
            }
        }
        guard setup.service == nil, facts.policyError == nil, facts.persona == nil else { return }
        memory.account.granted = evaluation.answers.filter { $0.value.outcome == .granted }
    }

    /// A grant ends an earlier denial at once.
    func noteGrants() {
        let evaluation = evaluation()
        for answers in [evaluation.answers, evaluation.productAnswers] {
            for (name, answer) in answers where answer.outcome == .granted { memory.account.denials.remove(name) }
        }
    }

    /// The signed app transaction contradicts the policy.
    func reject(policyOf bundleID: String, for appBundleID: String) {
        let error = Tenure.Error.policy(.otherApp(bundleID: bundleID, appBundleID: appBundleID))
        setup.options.log.error("\(error)")
        facts.policyError = error
        facts.policy = nil
        snapshot.note(.policy, .failed("\(error)"))
    }

    // MARK: Time

    func look() {
        // A caller may have looked at the clock meanwhile.
        let latest = customerState.latest
        if latest > memory.time.floor { memory.time.look(at: latest) }
        memory.time.look(at: setup.clock())
    }

    func learn(signedAt date: Date?) {
        guard let date else { return }
        learn { $0.learn(signedAt: date, clock: $1) }
    }

    func learn(_ lesson: (inout DeviceTime, _ clock: Date) -> Void) {
        let floor = memory.time.floor
        // A result that was requested before a later clock was observed can't correct that clock.
        let latest = customerState.latest
        lesson(&memory.time, latest > searchFloor ? max(latest, setup.clock()) : setup.clock())
        if memory.time.floor < floor { facts.clockCorrections += 1 }
    }

    // MARK: Evidence

    /// Marks that there is new evidence, which the service's last response doesn't cover.
    func hasNews() {
        newsCount += 1
        memory.account.askedAt = nil
        memory.account.denials = []
    }

    func discardAccount() {
        memory.discardAccount()
        forgetReadings()
        facts.claims = nil
    }

    /// Forgets what was read and what the service said about an account that isn't the present one anymore.
    func forgetReadings() {
        facts.accountChanges += 1
        snapshot.appTransaction = nil
        snapshot.transactions = nil
        snapshot.renewals = []
        snapshot.knowsRenewals = false
        facts.fresh = nil
        token = nil
    }
}
