public import Foundation
public import TenureCore

/// Tells an app what its customer may use: what they paid for before the app's business model changed, and what they
/// have bought since.
///
/// Create one instance when the app starts, and keep it. The instance answers immediately from what it knows, and
/// refreshes in the background. Only `restore()` may ask the customer to sign in.
public final class Tenure: Sendable {
    let engine: Engine
    /// The current answers, which the engine publishes.
    let state: CustomerState
    let setup: Setup
    /// The asset packs.
    let library: ContentLibrary
    /// The tasks that run in the background. They are canceled when this object is released.
    private let work: [Task<Void, Never>]

    /// Creates a client that starts even if the policy can't be used, like `init(policyIfValid:options:)`.
    package convenience init(_ setup: Setup) {
        self.init(setup, policy: Result { () throws(Tenure.Error) in try setup.loadPolicy() })
    }

    /// Creates a client with the policy that was read, or with the reason why it can't be used.
    init(_ setup: Setup, policy: Result<LoadedPolicy?, Tenure.Error>) {
        self.setup = setup
        let engine = Engine(setup, policy: policy)
        self.engine = engine
        state = engine.customerState
        let library = ContentLibrary(setup, engine: engine)
        self.library = library
        work = [
            Task { await engine.run() },
            // Begin to observe transactions immediately, so that no purchase is missed.
            Task { await engine.observeTransactions() },
            Task { await engine.observeEvents() },
            Task { await engine.limitResolving() },
            Task { await library.run() },
        ]
    }

    deinit {
        for task in work { task.cancel() }
        state.close()
        library.contentStates.close()
    }

    /// Returns whether the customer may use the entitlement now.
    ///
    /// If a right is already known, the call returns immediately. Otherwise it waits, for 15 seconds at most, until
    /// Tenure has asked the App Store, and the service if there is one, for the first time since the start. If a right
    /// has ended, the call waits until they were asked again, also for 15 seconds at most. If a denial is older than a
    /// minute, the call checks the denial again, which takes 2 seconds at most. The call never throws and never shows a
    /// sign-in. While the decision is undetermined, `Options.whileUndetermined` decides, or else the policy's
    /// `whileUndetermined`.
    nonisolated(nonsending) public func allows(_ entitlement: String) async -> Bool {
        if case .yes = state.access(to: entitlement) { return true }
        await waitForDecision(on: entitlement)
        return state.allows(entitlement)
    }

    /// Returns the decision with its reasons, and a sentence for the customer. Waits like `allows(_:)`.
    public func decision(for entitlement: String) async -> Answer {
        await waitForDecision(on: entitlement)
        let customer = state.customer
        if let answer = customer.answers[entitlement] { return answer }
        if let error = customer.policyError {
            return .unanswered(entitlement, because: .policyUnusable, "\(error)", nextSteps: [.support])
        }
        // Log a misspelled name. Otherwise it would look like a customer without the entitlement.
        guard state.isUnknown(entitlement) else { return .unanswered(entitlement) }
        setup.options.log.error("there is no entitlement `\(entitlement)`; check its spelling")
        return .unanswered(entitlement, because: .unknownEntitlement, nextSteps: [.support])
    }

    /// The customer now, and after every change, until the loop ends. Changes include the end of a right, of a grace
    /// period or of a trial session.
    public var updates: AsyncStream<Customer> { state.watch() }

    /// The customer now. Doesn't wait: see `Customer.isResolving`.
    public var customer: Customer { state.customer }

    /// How the app was acquired, as the App Store signed it. Nil until it was read, now or at an earlier start.
    public var acquisition: Acquisition? { state.customer.acquisition }

    /// Asks the App Store, the service and the policy's server again, without prompting the customer.
    @discardableResult public func refresh() async -> Customer {
        await engine.refresh()
        return state.customer
    }

    /// Waits until the entitlement is granted, until it is definitely denied, or until the timeout.
    private nonisolated(nonsending) func waitForDecision(on entitlement: String) async {
        var access = state.access(to: entitlement)
        if case .resolving = access {
            for await customer in state.watch() {
                if !customer.isResolving { break }
                if case .yes = state.access(to: entitlement) { break }
            }
            access = state.access(to: entitlement)
        }
        let engine = engine
        switch access {
        case .yes, .no, .resolving: return
        case .ended:
            _ = await value(of: Task { await engine.search(afterEndOf: entitlement) }, within: setup.resolvingTimeout)
        case .stale: _ = await value(of: Task { await engine.recheck() }, within: setup.recheckTimeout)
        }
    }
}

/// Creates clients: with a policy, with a service, or with both.
extension Tenure {
    /// Creates a client that decides on the device, by the app's own policy. It needs no server.
    ///
    /// - Throws: `Error.policy` if the policy is missing, empty, not compiled, or of another app; `Error.accessGroup`
    ///   or `Error.persona` if that option is invalid. For an app that must start anyway, see
    ///   `init(policyIfValid:options:)`.
    public convenience init(policy: PolicySource, options: Options = Options()) throws(Tenure.Error) {
        let setup = Setup(live: options, policy: policy)
        try setup.validateOptions()
        self.init(setup, policy: .success(try setup.loadPolicy()))
    }

    /// Creates a client that starts even if the policy can't be used.
    ///
    /// If the policy can't be used, rights that an earlier start granted are kept. Everything else is undetermined and
    /// not allowed, unless `Options.whileUndetermined` allows it. `customer.policyError` has the reason. An invalid
    /// option is ignored, and `customer.optionsError` has the reason.
    public convenience init(policyIfValid policy: PolicySource, options: Options = Options()) {
        var setup = Setup(live: options, policy: policy)
        do throws(Tenure.Error) {
            try setup.validateOptions()
        } catch {
            if setup.optionsError == nil { options.log.error("\(error)") }
            setup.optionsError = error
        }
        self.init(setup)
    }

    /// Creates a client that asks your service. Offline, it uses the entitlement token that the service has signed.
    ///
    /// - Parameters:
    ///   - service: an `https` address, or `http` on this machine.
    ///   - app: the app's name in the service, if the service has several apps.
    ///   - key: the service's signing key, pinned when the app is built.
    ///   - policy: the policy by which the device decides until the service has answered, such as at a first launch
    ///     without network.
    /// - Throws: `Error.serviceAddress` if `service` is any other address; also the errors of `init(policy:options:)`.
    public convenience init(
        service: URL, app: String? = nil, key: ServiceKey, policy: PolicySource? = nil, options: Options = Options()
    ) throws(Tenure.Error) {
        try self.init(service: service, app: app, keys: [key], policy: policy, options: options)
    }

    /// Creates a client that asks your service, with several signing keys, such as all keys that earlier releases
    /// pinned.
    public convenience init(
        service: URL, app: String? = nil, keys: [ServiceKey], policy: PolicySource? = nil, options: Options = Options()
    ) throws(Tenure.Error) {
        try self.init(service: service, app: app, keys: keys, root: nil, policy: policy, options: options)
    }

    /// Creates a client that asks your service, with an offline root. The root vouches for the service's signing keys
    /// and can revoke them.
    ///
    /// - Parameter root: the public key that `tenure signing-key root create` prints, pinned when the app is built.
    public convenience init(
        service: URL, app: String? = nil, root: ServiceKey, policy: PolicySource? = nil, options: Options = Options()
    ) throws(Tenure.Error) {
        try self.init(service: service, app: app, keys: [], root: root, policy: policy, options: options)
    }

    private convenience init(
        service: URL, app: String?, keys: [ServiceKey], root: ServiceKey?, policy: PolicySource?, options: Options
    ) throws(Tenure.Error) {
        var setup = Setup(live: options, policy: policy)
        let connection = ServiceConnection(url: service, app: app, timeout: options.serviceTimeout)
        if let mistake = connection.addressMistake { throw .serviceAddress(mistake) }
        setup.service = connection
        setup.keys = keys
        setup.root = root
        try setup.validateOptions()
        self.init(setup, policy: .success(try setup.loadPolicy()))
    }

    /// Creates a client for a release before the app's business model changes. It only sends the customer's artifacts
    /// (what the App Store signed) to the service. It allows every entitlement, finishes no transaction and shows
    /// nothing. With the collected artifacts, `tenure rehearse` shows what a new policy would decide for real
    /// customers.
    public static func listening(service: URL, app: String? = nil, options: Options = Options()) -> Tenure {
        var setup = Setup(live: options, policy: nil)
        setup.service = ServiceConnection(url: service, app: app, timeout: options.serviceTimeout)
        setup.isListening = true
        return Tenure(setup)
    }
}

extension Setup {
    /// Creates the setup of a real app: it uses StoreKit, and stores its state where the options say.
    fileprivate init(live options: Tenure.Options, policy: Tenure.PolicySource?) {
        let location: StateLocation
        var optionsError: Tenure.Error?
        do throws(AccessGroupError) {
            location = try StateLocation(options, host: .current)
        } catch {
            options.log.error("\(error)")
            // A client that must start anyway uses its own state instead of the shared state.
            location = .unshared(options)
            optionsError = .accessGroup(error.problem)
        }
        self.init(access: StoreKitAccess(), storage: location.storage, policy: policy)
        self.location = location
        self.options = options
        self.optionsError = optionsError
        events = DeviceEvent.ofThisDevice
        #if canImport(Security) && !os(macOS)
            // Only one process can use the system's background downloads. That process is the app.
            if options.content != nil, host.kind == .app {
                background = BackgroundSession.ofThisProcess(group: options.accessGroup)
            }
        #endif
    }

    /// Reads the policy from the device. Nil if the app has no policy. Throws if the policy can't be read, or is for
    /// another app.
    func loadPolicy() throws(Tenure.Error) -> Tenure.LoadedPolicy? {
        guard let loaded = try policy?.load(options) else { return nil }
        let bundleID = loaded.policy.app.bundleID
        guard host.accepts(bundleID: bundleID) else {
            throw .policy(.otherApp(bundleID: bundleID, appBundleID: host.bundleID ?? ""))
        }
        return loaded
    }

    /// Throws if an option is invalid: the access group, or a persona (a test customer) that doesn't fit a client with
    /// or without a service.
    fileprivate func validateOptions() throws(Tenure.Error) {
        if let optionsError { throw optionsError }
        guard let persona = options.persona else { return }
        if service == nil, persona.token != nil {
            throw .persona("a persona's token works only with the service that created it")
        }
        if service != nil, persona.token == nil {
            throw .persona("a client with a service accepts only a persona's token")
        }
    }

    /// Returns whether the stored state alone grants the entitlement, before StoreKit and the service have responded.
    package func allowsAtOnce(_ entitlement: String) async -> Bool {
        let engine = Engine(self, policy: .success(nil))
        await engine.load()
        if case .yes = engine.customerState.access(to: entitlement) { return true } else { return false }
    }
}
