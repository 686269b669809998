public import Foundation
import TenureCore

/// Creates clients: with a policy, with a service, or with both.
extension Tenure {
    /// Creates a client that decides on the device, by the app's own policy. It needs no server.
    ///
    /// - Throws: `Error.policy` if the policy is missing, empty, not compiled, or of another app. See
    ///   `init(policyIfValid:options:)` for an app that must start anyway.
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
    /// - Throws: `Error.serviceAddress` if `service` is any other address; `Error.policy` as `init(policy:options:)`.
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
}
