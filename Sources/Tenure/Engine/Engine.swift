import Foundation
import TenureCore

/// Finds out what the customer has: reads the store, decides or asks the service, stores what was proved, and publishes
/// it.
///
/// One search runs at a time. Callers that ask meanwhile wait for it.
actor Engine {
    let setup: Setup
    let customerState: CustomerState

    // Read by `load()`, away from the main thread.
    private(set) var tokenReader: EntitlementTokenReader
    private var isLoaded = false
    private(set) var distribution = Tenure.Distribution.appStore
    /// The device's ID, hashed. Nil if the store doesn't name it.
    private(set) var device: String?
    /// The test customer. Nil in every copy from the App Store.
    private(set) var persona: Tenure.Persona?

    var policy: Policy?
    private(set) var policyError: Tenure.Error?
    /// Where a newer policy comes from.
    let feed: SignedPolicyFeed?
    var policyAskedAt: Date?
    /// The lists of versions that the app registered.
    var lists = Tenure.VersionRights()

    /// The stored state, in step with what other processes write.
    var state: WorkingState
    var memory: StoredState {
        get { state.current }
        set { state.current = newValue }
    }
    var snapshot: AppStoreSnapshot
    /// The claims of the stored entitlement token.
    var claims: EntitlementTokenClaims?
    /// The service's response about the present evidence. Nil if it wasn't asked, or didn't respond.
    var fresh: [String: Tenure.Answer]?
    var token: AccessToken?
    /// Purchases with delivered content, by their original transaction.
    var delivered: Set<String> = []
    var backoff = Backoff()
    /// Until when the service asked not to be called. Nil: it is ready.
    var retryAt: Date?

    /// How often the clock was found to have been wrong.
    var heals = 0
    /// The latest instant that was known when the present search began.
    var searchFloor = Date.distantPast
    /// Transactions that are being finished.
    var finishing: Set<String> = []
    /// Grows with every account that is discarded.
    var accountChanges = 0
    /// Grows with all new evidence.
    var newsCount = 0
    /// The wait of `run()` for its next search.
    var sleeper: Task<Void, any Error>?
    /// The search for transactions that were recorded meanwhile, and whether it has to start again.
    var pendingSearch: Task<Void, Never>?
    var isSearchWanted = false
    /// Whether the service must be asked even if it isn't due.
    var isServiceWanted = false
    /// Whether the service's products must be asked for even if they aren't due.
    var areProductsWanted = false
    /// The request for the service's products that is under way.
    var productsTask: Task<Void, Never>?
    /// Products that unlock something by themselves.
    var contentProducts: Set<String> = []
    /// Notified of everything that may change a right.
    var changed: AsyncStream<Void>.Continuation?
    /// The sign-in that is open.
    var restoring: Task<Tenure.RestoreResult.SignIn, Never>?

    private var isSearched = false
    private var checkedAt: Date?
    private var running: Task<Void, Never>?

    /// Reads nothing and never blocks: apps call it on the main thread.
    init(_ setup: Setup, policy: Result<Tenure.LoadedPolicy?, Tenure.Error>) {
        self.setup = setup
        // `load()` replaces it.
        tokenReader = EntitlementTokenReader(keys: KeyRing(setup.keys, root: setup.root), isRehearsal: false)
        var snapshot = AppStoreSnapshot()
        var policyError: Tenure.Error?
        switch policy {
        case .success(let loaded):
            self.policy = loaded?.policy
            feed = loaded?.feed
            if loaded != nil { snapshot.note(.policy, .done) }
        case .failure(let error):
            feed = nil
            policyError = error
            snapshot.note(.policy, .failed("\(error)"))
            setup.options.log.error("\(error)")
        }
        self.snapshot = snapshot
        self.policyError = policyError
        let clock = setup.clock()
        // `load()` replaces it.
        state = WorkingState(setup.location, device: nil, distribution: .appStore, persona: nil, clock: clock)
        customerState = CustomerState(
            CustomerState.Snapshot(
                customer: Tenure.Customer(policyError: policyError, optionsError: setup.optionsError), floor: clock,
                graceEnds: setup.grace(under: self.policy, policyError).map { clock.addingTimeInterval($0) },
                allowsEverything: setup.isListening),
            clock: setup.clock, waitUntil: setup.waitUntil)
    }

    /// Reads how the app was installed, which device this is, and the stored state. Does nothing the second time.
    func load() {
        guard !isLoaded else { return }
        isLoaded = true
        let access = setup.access
        distribution = access.distribution
        device = access.deviceVerificationID?.hashed
        let isRehearsal = access.isRehearsal
        tokenReader = EntitlementTokenReader(keys: tokenReader.keys, isRehearsal: isRehearsal)
        if isRehearsal || distribution == .testFlight { persona = setup.options.persona }
        let clock = setup.clock()
        state = WorkingState(
            setup.location, device: device, distribution: distribution, ownsState: setup.ownsState,
            persona: persona?.storedName, clock: clock)
        snapshot.note(state.reload(at: clock), log: setup.options.log)
        readStoredToken(at: clock)
        post()
    }

    /// Reads the claims of the stored entitlement token, if it still proves anything here.
    ///
    /// If its key is revoked, everything in the response that brought it may come from an attacker, so all of that
    /// response is discarded.
    func readStoredToken(at clock: Date) {
        claims = nil
        guard setup.service != nil, let text = memory.account.entitlementToken else { return }
        let token = EntitlementTokenReader.Token(
            text: text, statements: memory.account.keyStatements, revocations: memory.revocations)
        do throws(EntitlementTokenReader.Refusal) {
            claims = try tokenReader.read(
                stored: token, for: holder(device ?? memory.device), at: memory.time.now(clock))
        } catch {
            setup.options.log.error("the stored entitlement token is rejected: it \(error.rawValue)")
            guard error == .revoked else { return }
            memory.account.distrustService()
            fresh = nil
        }
    }

    /// The device and customer that a token must be for, as far as this device knows.
    func holder(_ device: String?) -> EntitlementTokenReader.Holder {
        EntitlementTokenReader.Holder(
            device: device, bundleID: setup.access.bundleID ?? memory.account.bundleID, host: setup.host,
            appTransactionID: memory.account.key?.appTransactionID, environment: memory.account.environment)
    }

    // MARK: Searching

    /// Asks all sources that need no prompt, and waits for them.
    func search() async {
        if let running { return await running.value }
        let search = Task { await conduct() }
        running = search
        await search.value
    }

    /// Waits for the search that is running.
    func searchIsOver() async { await running?.value }

    /// Waits for a search that began after this call. The service is asked even if it isn't due.
    func searchAgain() async {
        if setup.service != nil { isServiceWanted = true }
        if let running { await running.value }
        await search()
        // Another one may have begun before this call asked for the service.
        if isServiceWanted { await search() }
    }

    /// Checks a denial again: at most once in ten seconds.
    func recheck() async {
        if running == nil, let checkedAt, abs(setup.clock().timeIntervalSince(checkedAt)) < Self.shortestRecheck {
            return
        }
        await search()
    }

    private static let shortestRecheck: TimeInterval = 10

    /// Asks all sources that need no prompt again, even those that aren't due.
    func refresh() async {
        load()
        policyAskedAt = nil
        areProductsWanted = true
        await searchAgain()
    }

    private func conduct() async {
        load()
        rereadState()
        look()
        searchFloor = memory.time.floor
        // The stored policy may be newer than the bundled one.
        if let feed, !isSearched { policy = await feed.restore() }
        // If the app brings no policy, the service says which products there are. An empty list of purchases is probed
        // with them.
        let asksForProductsFirst = productIDs.isEmpty
        if asksForProductsFirst { await refreshProducts() }
        // Concurrently, so that none waits for the timeout of another.
        async let policyNews: Void = refreshPolicy()
        async let productNews: Void = asksForProductsFirst ? () : refreshProducts()
        let products = productIDs
        async let app = attempt(asksForAppTransaction) { try await $0.appTransaction() }
        async let listed = attempt(distribution.hasPurchases) { try await $0.transactions(productIDs: products) }
        // The app transaction of another account than before may be one that StoreKit hasn't replaced yet.
        let answer = await app
        if !isOfAnotherAccount(answer) {
            take(answer)
            post()
        }
        let purchases = await listed
        if isOfAnotherAccount(answer) { take(answer, unlessPurchasesAreOf: purchases) }
        await take(purchases)
        post()
        if setup.service != nil { await askService() }
        await policyNews
        await productNews
        isSearched = true
        checkedAt = setup.clock()
        noteOutcomes()
        memory.joinTrials()
        save()
        if snapshot.failed {
            backoff.fail()
            sleeper?.cancel()
        } else {
            backoff.succeed()
        }
        // Callers go on here, and one that asks again wants a new search.
        running = nil
        post()
        await finishRecorded(isStoreResponding: snapshot.transactions != nil)
    }

    /// Whether `AppTransaction.shared` may be asked for. A development build has none, and asking may show a sign-in.
    /// With a persona that is wanted: a persona counts beside signed evidence only.
    var asksForAppTransaction: Bool {
        distribution.hasAppTransaction || distribution == .development && persona != nil && setup.host.mayPrompt
    }

    /// Stores what was denied and what was granted. A denial remains until there is new evidence. A grant remains if
    /// the next release can't read its policy.
    private func noteOutcomes() {
        let evaluation = evaluation()
        for (name, answer) in evaluation.answers.merging(evaluation.productAnswers, uniquingKeysWith: { $1 }) {
            switch answer.outcome {
            case .denied: memory.account.denials.insert(name)
            case .granted: memory.account.denials.remove(name)
            case .undetermined: break
            }
        }
        guard setup.service == nil, policyError == nil, persona == nil else { return }
        memory.account.granted = evaluation.answers.filter { $0.value.outcome == .granted }
    }

    /// A grant ends an earlier denial at once.
    func noteGrants() {
        let evaluation = evaluation()
        for answers in [evaluation.answers, evaluation.productAnswers] {
            for (name, answer) in answers where answer.outcome == .granted { memory.account.denials.remove(name) }
        }
    }

    /// Calls the store with a timeout. Returns nil if it isn't to be asked.
    func attempt<Value: Sendable>(
        _ isAsked: Bool = true, _ call: @escaping @Sendable (any AppStoreAccess) async throws -> Value
    ) async -> Result<Value, any Error>? {
        guard isAsked else { return nil }
        let access = setup.access
        do {
            return .success(try await withTimeout(setup.options.appStoreTimeout) { try await call(access) })
        } catch {
            return .failure(error)
        }
    }

    /// The signed app transaction contradicts the policy.
    func reject(policyOf bundleID: String, for appBundleID: String) {
        let error = Tenure.Error.policy(.otherApp(bundleID: bundleID, appBundleID: appBundleID))
        setup.options.log.error("\(error)")
        policyError = error
        policy = nil
        snapshot.note(.policy, .failed("\(error)"))
    }

    // MARK: Storing

    func look() {
        // A caller may have looked at the clock meanwhile.
        let latest = customerState.latest
        if latest > memory.time.floor { memory.time.look(at: latest) }
        memory.time.look(at: setup.clock())
    }

    func post() {
        customerState.post(evaluation().customerSnapshot)
        changed?.yield()
    }

    func evaluation() -> Evaluation {
        Evaluation(
            setup: setup, distribution: distribution, persona: persona, policy: policy, policyError: policyError,
            memory: memory, snapshot: snapshot, claims: claims, fresh: fresh, isSearched: isSearched,
            checkedAt: checkedAt, clock: setup.clock(), lists: lists, contentProducts: contentProducts, heals: heals,
            accountChanges: accountChanges)
    }
}
