public import Foundation

extension Tenure {
    /// Why a call failed. Calls that ask about entitlements, such as `allows(_:)`, never throw.
    public enum Error: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// StoreKit couldn't verify the transaction, for this reason. Tenure has neither recorded nor finished it.
        case unverified(String)
        /// This process, such as an extension, can't make or restore purchases, for this reason.
        case purchasesUnavailable(String)
        /// The Tenure service didn't respond, or rejected the request, for this reason.
        case service(String)
        /// The service's address isn't an `https` URL, or an `http` URL of this machine.
        case serviceAddress(String)
        /// The device couldn't store that a trial session has begun, for this reason.
        case notStored(String)
        /// The app's policy can't be used.
        case policy(PolicyProblem)
        /// The text isn't a public key, for this reason.
        case key(String)
        /// `Options.accessGroup` is invalid, or the app doesn't have this group. The text says which.
        case accessGroup(String)
        /// The persona (a test customer) in the options doesn't fit the client. A persona's token needs a client with a
        /// service, and all other personas need a client without a service.
        case persona(String)
        /// The policy has no trial of the entitlement.
        case noTrial(entitlement: String)
        /// The trial of the entitlement is used up.
        case trialOver(entitlement: String)

        /// What is wrong with the app's policy.
        public enum PolicyProblem: Sendable, Hashable, CustomStringConvertible {
            /// The app has no such resource.
            case missing(name: String)
            /// The app has the resource, but the file can't be opened.
            case unreadable(name: String)
            /// The resource has no text.
            case empty(name: String)
            /// The resource isn't an output of `tenure policy compile` or `tenure policy sign`.
            case invalid(name: String, reason: String)
            /// The policy is for another app.
            case otherApp(bundleID: String, appBundleID: String)
            /// For a policy that a web server can update (`PolicySource.signed`): the bundled policy is invalid or
            /// isn't signed with the key, or the key itself is invalid.
            case source(String)

            /// The problem on one line, without a fix.
            public var description: String {
                switch self {
                case .missing(let name): "the app has no resource `\(name)`"
                case .unreadable(let name): "the policy `\(name)` can't be opened"
                case .empty(let name): "the policy `\(name)` is empty"
                case .invalid(let name, let reason): "the policy `\(name)` can't be used: \(reason)"
                case .otherApp(let bundleID, let appBundleID):
                    "the policy belongs to the app `\(bundleID)`, and this app is `\(appBundleID)`"
                case .source(let reason): reason
                }
            }

            var recovery: String {
                switch self {
                case .missing(let name): "add `\(name)` to the resources of the app's target"
                case .unreadable: "check the file's permissions"
                case .empty, .invalid: "write it with `tenure policy compile`"
                case .otherApp: "set `bundleID` in the policy and compile it again"
                case .source:
                    "bundle a policy that `tenure policy sign` wrote, and pass the key that `tenure policy signing-key` prints"
                }
            }
        }

        /// Whether the same call may succeed later.
        public var isRetryable: Bool {
            switch self {
            case .service, .notStored: true
            case .unverified, .purchasesUnavailable, .serviceAddress, .policy, .key, .accessGroup, .persona, .noTrial,
                .trialOver:
                false
            }
        }

        /// The problem and its fix on one line, for a log.
        public var description: String { "\(problem); \(recovery)" }
        /// The problem in one English sentence.
        public var errorDescription: String? { problem }
        /// What the developer can do about the problem.
        public var recoverySuggestion: String? { recovery }

        private var problem: String {
            switch self {
            case .unverified(let reason): "StoreKit couldn't verify the transaction (\(reason))"
            case .purchasesUnavailable(let reason): reason
            case .service(let detail): "the request to the service failed: \(detail)"
            case .serviceAddress(let detail): detail
            case .notStored(let detail): "the device couldn't store the change: \(detail)"
            case .policy(let problem): problem.description
            case .key(let detail): "the service's key can't be read: \(detail)"
            case .accessGroup(let detail), .persona(let detail): detail
            case .noTrial(let entitlement): "the policy has no trial of `\(entitlement)`"
            case .trialOver(let entitlement): "the trial of `\(entitlement)` is used up"
            }
        }

        private var recovery: String {
            switch self {
            case .unverified: "ask the customer to try again, or to restore purchases"
            case .service: "try again later"
            case .serviceAddress: "use an `https` address, or `http` on this machine"
            case .notStored: "try again; if it fails again, free some space on the device"
            case .policy(let problem): problem.recovery
            case .key: "add the key that `tenure signing-key list` prints to the app"
            case .purchasesUnavailable: "offer purchases only in the app itself, installed from the App Store"
            case .accessGroup:
                "name an App Group of the app and of each extension, such as `group.com.example.app`; in an App Clip, leave `Options.accessGroup` unset"
            case .persona:
                "without a service, set `Options.persona` to `.earlyBuyer(build:on:)`; with a service, set it to `.token(…)` with the token that `tenure persona create` prints"
            case .noTrial: "add a `trial` to the entitlement in the policy, or don't offer the trial"
            case .trialOver: "offer the purchase instead"
            }
        }
    }
}
