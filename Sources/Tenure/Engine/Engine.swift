import Foundation
import TenureCore

/// Finds out what the customer has: reads the store, decides or asks the service, keeps what was proved, and puts it up.
///
/// One at a time: whoever asks while a search runs waits for that one.
actor Engine {
    let setup: Setup
    let board: Board
    var policy: Policy?
    /// Where a newer policy comes from; nil: from nowhere.
    let feed: SignedPolicyFeed?
    var policyAskedAt: Date?
    /// What the app registered for lists of versions.
    var lists = VersionRights()
    let certificates: CertificateReader
    /// Of this device; nil where the store does not name it.
    let device: String?

    /// The state, in step with what other processes store.
    var state: WorkingState
    var memory: StoredState {
        get { state.current }
        set { state.current = newValue }
    }
    var reading = Reading()
    /// What the certificate in `memory` says, once it was read.
    var claims: CertificateClaims?
    /// What the service said since the app started; nil: it was not asked, or did not answer.
    var fresh: [String: Tenure.Answer]?
    var token: AccessToken?
    /// Acknowledged by the service since the app started.
    var acknowledged: Set<String> = []
    /// Whose content has arrived, as the app said.
    var arrived: Set<String> = []
    var backoff = Backoff()
    /// Seconds that the service asked to be left alone for.
    var retryAfter: Double?

    /// How often the clock was found to have been wrong.
    var heals = 0
    /// The latest instant that was known when the present search began.
    var searchFloor = Date.distantPast
    /// Whether what the service said last was over all that could grant something.
    var toldAll = false
    /// Transactions that the store is being told of.
    var finishing: Set<String> = []
    /// Grows with every account that is discarded.
    var accountChanges = 0
    /// Whether the service is to be asked whatever it said before.
    var isServiceWanted = false

    private var isComplete = false
    private var running: Task<Void, Never>?

    init(_ setup: Setup) {
        self.setup = setup
        let clock = setup.clock()
        let access = setup.access
        let device = access.deviceVerificationID?.hashed
        self.device = device
        certificates = CertificateReader(keys: KeyRing(setup.keys), isRehearsal: access.isRehearsal)

        var reading = Reading()
        var policy: Policy?
        var feed: SignedPolicyFeed?
        if let source = setup.policy {
            do throws(TenureError) {
                feed = try source.feed?(setup.options)
                if let feed { policy = feed.initial } else { policy = try source.load() }
                reading.note(.policy, .done)
            } catch {
                setup.options.log.error("\(error)")
                reading.note(.policy, .failed("\(error)"))
            }
        }
        self.policy = policy
        self.feed = feed

        var state = WorkingState(
            setup.location, device: device, distribution: access.distribution, persona: setup.persona?.hashed,
            clock: clock)
        reading.note(state.reload(at: clock), log: setup.options.log)
        self.state = state
        let memory = state.current
        self.reading = reading
        let view = View(
            setup: setup, policy: policy, memory: memory, reading: reading,
            claims: Self.claims(in: memory, by: certificates, setup: setup, device: device, clock: clock), fresh: nil,
            isComplete: false, clock: clock)
        claims = view.claims
        board = Board(view.notice)
    }

    /// The certificate that was kept, if it still proves anything here.
    static func claims(
        in memory: StoredState, by certificates: CertificateReader, setup: Setup, device: String?, clock: Date
    ) -> CertificateClaims? {
        guard setup.service != nil, let text = memory.account.certificate else { return nil }
        let holder = CertificateReader.Holder(
            device: device ?? memory.device, bundleID: setup.access.bundleID ?? memory.account.bundleID,
            kind: setup.host.kind, appTransactionID: memory.account.key?.appTransactionID,
            environment: memory.account.environment)
        do throws(CertificateReader.Refusal) {
            return try certificates.read(text, for: holder, at: memory.time.now(clock))
        } catch {
            setup.options.log.error("the certificate that was kept is not believed: it \(error.rawValue)")
            return nil
        }
    }

    // MARK: Searching

    /// Asks everything that can answer without disturbing anybody, and waits for it.
    func search() async {
        if let running { return await running.value }
        let search = Task { await conduct() }
        running = search
        await search.value
    }

    /// Waits for one that runs.
    func searchIsOver() async { await running?.value }

    /// One that began later than this call, and asks the service whatever it said before.
    func searchAnew(asksService: Bool) async {
        if asksService, setup.service != nil { isServiceWanted = true }
        if let running { await running.value }
        await search()
        // Another one may have been on its way already.
        if isServiceWanted { await search() }
    }

    private func conduct() async {
        rereadState()
        look()
        searchFloor = memory.time.floor
        let distribution = setup.access.distribution
        // Where the app brings no policy, the service says what it sells: an empty list of purchases is asked about by that.
        if productIDs.isEmpty { await refreshProducts() }
        // All at once: none has to wait for another's deadline.
        async let policyNews: Void = refreshPolicy()
        async let productNews: Void = memory.catalogue == nil ? () : refreshProducts()
        let products = productIDs
        async let app = attempt(distribution.hasAppTransaction) { try await $0.appTransaction() }
        async let listed = attempt(distribution.hasPurchases) { try await $0.transactions(productIDs: products) }
        // The app transaction of another account than before may be one that StoreKit has not replaced yet.
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
        noteDenials()
        memory.joinTrials()
        save()
        if reading.failed { backoff.fail() } else { backoff.succeed() }
        isComplete = true
        post()
        await finishRecorded()
        running = nil
    }

    /// What is known to be denied stays so until something new comes, though nobody answers.
    private func noteDenials() {
        for (name, answer) in view().answers {
            switch answer.outcome {
            case .denied: memory.account.denials.insert(name)
            case .granted: memory.account.denials.remove(name)
            case .undetermined: break
            }
        }
    }

    /// A call into the store with a deadline; nil where it is not to be asked.
    func attempt<Value: Sendable>(
        _ isAsked: Bool = true, _ call: @escaping @Sendable (any StoreAccess) async throws -> Value
    ) async -> Result<Value, any Error>? {
        guard isAsked else { return nil }
        let access = setup.access
        do {
            return .success(try await withDeadline(setup.options.storeDeadline) { try await call(access) })
        } catch {
            return .failure(error)
        }
    }

    // MARK: Keeping

    func look() {
        // Whoever asked meanwhile looked at the clock too.
        let latest = board.latest
        if latest > memory.time.floor { memory.time.look(at: latest) }
        memory.time.look(at: setup.clock())
    }

    func post() { board.post(view().notice) }

    func view() -> View {
        View(
            setup: setup, policy: policy, memory: memory, reading: reading, claims: claims, fresh: fresh,
            isComplete: isComplete, clock: setup.clock(), lists: lists, heals: heals, toldAll: toldAll)
    }
}
