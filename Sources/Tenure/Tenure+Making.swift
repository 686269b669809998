public import Foundation

extension Tenure {
    /// Decides on the device, under a policy that the app brings. No server is needed.
    public convenience init(policy: PolicySource, options: Options = Options()) {
        self.init(Setup(live: options, policy: policy))
    }

    /// Asks the developer's service, and proves entitlements offline with its certificate.
    ///
    /// - Parameters:
    ///   - service: an `https` address; `http` on this machine alone.
    ///   - app: the app's name where the service has several.
    ///   - key: the service's public key, as it was when the app was built.
    ///   - policy: how the device decides by itself what the service has not answered yet, such as at a first launch
    ///     without network; nil: then the options' `whileUndetermined` does.
    public convenience init(
        service: URL, app: String? = nil, key: ServiceKey, policy: PolicySource? = nil, options: Options = Options()
    ) {
        self.init(service: service, app: app, keys: [key], policy: policy, options: options)
    }

    /// The same with several keys: while a service changes from one to the next.
    public convenience init(
        service: URL, app: String? = nil, keys: [ServiceKey], policy: PolicySource? = nil,
        options: Options = Options()
    ) {
        var setup = Setup(live: options, policy: policy)
        setup.service = ServiceConnection(url: service, app: app, deadline: options.serviceDeadline)
        setup.keys = keys
        self.init(setup)
    }

    /// For the last release that is sold: reports to the service what the App Store signed, and nothing else. It gates
    /// nothing, finishes nothing and shows nothing; what it collects is what a rehearsal reads.
    public static func listening(service: URL, app: String? = nil, options: Options = Options()) -> Tenure {
        var setup = Setup(live: options, policy: nil)
        setup.service = ServiceConnection(url: service, app: app, deadline: options.serviceDeadline)
        setup.isListening = true
        return Tenure(setup)
    }
}

extension Setup {
    fileprivate init(live options: Tenure.Options, policy: Tenure.PolicySource?) {
        let location: StateLocation
        do throws(AccessGroupError) {
            location = try StateLocation(options, host: .current)
        } catch {
            options.log.error("\(error)")
            location = StateLocation(UnavailableStateStorage(error: .accessGroup(error)))
        }
        self.init(access: StoreKitAccess(), storage: location.storage, policy: policy)
        self.location = location
        self.options = options
    }
}
