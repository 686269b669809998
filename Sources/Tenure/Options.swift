public import Foundation
public import TenureCore

extension Tenure {
    /// The settings of a `Tenure` object, the client in the app.
    public struct Options: Sendable {
        /// The time at which Tenure finishes a transaction. Until then, the App Store delivers it again at each start.
        ///
        /// Tenure finishes these transactions itself: those of products in the policy or in the service's list of
        /// products, except consumables. For every other transaction, the app delivers the product. Then the app calls
        /// `Transaction.finish()`, or `contentArrived(for:)`, so that Tenure finishes the transaction. For a
        /// consumable, pass the transaction, not the product ID.
        public enum Finishing: Sendable, Hashable {
            /// As soon as the transaction is *recorded*: stored on the device and, with a service, answered by the
            /// service.
            case whenRecorded
            /// For these products, after the app has called `contentArrived(for:)` or all their asset packs are
            /// installed. For all other products, as soon as the transaction is recorded.
            case afterContent(of: Set<String>)
            /// Never. The app finishes all transactions itself.
            case never
        }

        /// What is allowed in copies that weren't installed from the App Store, TestFlight or Xcode. For such copies,
        /// the App Store has signed nothing.
        public enum OutsideAppStore: Sendable, Hashable {
            /// Everything is allowed, because the customer paid in another store.
            case allow
            /// Everything is denied.
            case deny
            /// The same as for an undetermined decision: see `whileUndetermined`.
            case undetermined
        }

        /// The time at which Tenure finishes transactions.
        public var finishing = Finishing.whenRecorded
        /// What is allowed in copies that weren't installed from the App Store, TestFlight or Xcode.
        public var outsideAppStore = OutsideAppStore.undetermined
        /// What `allows(_:)` returns while a decision is undetermined, and for how long after the app's first start on
        /// this device. A decision is undetermined if nothing grants the entitlement, but a source that may grant it
        /// couldn't be read.
        ///
        /// If nil, the policy's `whileUndetermined` applies. For a client with a service and no policy, nil means that
        /// undetermined decisions are allowed for 72 hours. If the policy can't be read, nothing is allowed.
        public var whileUndetermined: Policy.WhileUndetermined?
        /// The timeout of each StoreKit call, in seconds.
        public var appStoreTimeout: Double = 8
        /// The timeout of one request to the service, in seconds.
        public var serviceTimeout: Double = 15
        /// How long `restore()` waits, in seconds: for the sign-in, and then for the App Store and the service to
        /// answer. A sign-in that takes longer stays open.
        public var restoreTimeout: Double = 60
        /// The test customer that replaces the real customer in builds from Xcode and TestFlight. Nil to use the real
        /// customer. Copies from the App Store ignore it.
        public var persona: Persona?
        /// The customer's languages, the preferred language first. `Answer.sentence` has the entitlement's title in the
        /// first of these languages for which the policy has a title. The client sends the languages to the service as
        /// `Accept-Language`.
        public var languages = Locale.preferredLanguages
        /// Receives the client's log lines.
        public var log = Log.standard
        /// The folder for the stored state. If nil, the state is in the keychain on Apple's platforms, and in
        /// `~/.local/share/tenure` elsewhere.
        public var folder: URL?
        /// The App Group in which the app and its extensions share the state, such as `group.com.example.app`. If nil,
        /// the app and each extension have separate states. On Linux, the option is the name of a folder that the
        /// processes share.
        ///
        /// If a later release sets the group, the client moves the state to the group. The group must be among the App
        /// Groups of the app and of each extension.
        public var accessGroup: String?

        /// The sources of asset packs (files that a purchase unlocks). Nil if the app has no asset packs.
        public var content: ContentSources?
        /// The number of bytes, for all packs together, that downloads may transfer over an expensive network without a
        /// call of `allowExpensiveNetwork()`.
        public var expensiveNetworkLimit: Int64 = 50_000_000

        /// Creates options with the defaults that suit most apps.
        public init() {}
    }
}
