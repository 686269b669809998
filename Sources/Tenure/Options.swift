public import Foundation
public import TenureCore

extension Tenure {
    /// The settings of a `Tenure` object, the client in the app.
    public struct Options: Sendable {
        /// The time at which Tenure finishes a transaction. Until then, the App Store delivers it again at each start.
        ///
        /// Without a call of the app, Tenure finishes only transactions of products in the policy or in the service's
        /// list of products, and none of consumables. For every other transaction, the app delivers the product. Then
        /// it calls `contentArrived(for:)`, so that Tenure finishes the transaction, or `Transaction.finish()`. For a
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
            /// As while a decision is undetermined: `whileUndetermined` says what is allowed.
            case undetermined
        }

        /// The time at which Tenure finishes transactions.
        public var finishing = Finishing.whenRecorded
        /// What is allowed in copies that weren't installed from the App Store, TestFlight or Xcode.
        public var outsideAppStore = OutsideAppStore.undetermined
        /// What `allows(_:)` returns while a decision is undetermined (nothing grants the entitlement, but not
        /// everything could be read that might), and for how long after the app's first start on this device. If nil,
        /// the policy's `whileUndetermined` applies. For a client with a service and no policy, nil means that
        /// undetermined decisions are allowed for 72 hours. If the policy can't be read, nothing is allowed.
        public var whileUndetermined: Policy.WhileUndetermined?
        /// The timeout of each StoreKit call, in seconds.
        public var appStoreTimeout: Double = 8
        /// The timeout of one request to the service, in seconds.
        public var serviceTimeout: Double = 15
        /// How long `restore()` waits, in seconds: for the sign-in, and then for the App Store and the service to
        /// answer. After this time, the sign-in stays open.
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

    /// A test customer for builds from Xcode and TestFlight.
    ///
    /// In the sandbox and in Xcode, all customers have the same original version and date. So without such a test
    /// customer, a *persona*, you can't test how the policy treats early customers.
    public struct Persona: Sendable, Hashable {
        /// Either a customer who got this version of the app on this date, or a test customer that the service created
        /// and that its token identifies.
        enum Kind: Sendable, Hashable {
            case acquired(version: String, platform: Platform, date: Date)
            case token(String)
        }

        let kind: Kind

        /// A customer who got the app on iOS, iPadOS, tvOS, watchOS or visionOS.
        ///
        /// - Parameters:
        ///   - build: the `CFBundleVersion` of the copy they got.
        ///   - date: when they got it.
        public static func earlyBuyer(build: String, on date: Date) -> Persona {
            #if os(tvOS)
                let platform = Platform.tvOS
            #elseif os(watchOS)
                let platform = Platform.watchOS
            #elseif os(visionOS)
                let platform = Platform.visionOS
            #else
                let platform = Platform.iOS
            #endif
            return Persona(kind: .acquired(version: build, platform: platform, date: date))
        }

        /// A customer who got the app on the Mac.
        ///
        /// - Parameters:
        ///   - version: the `CFBundleShortVersionString` of the copy they got.
        ///   - date: when they got it.
        public static func earlyBuyer(version: String, on date: Date) -> Persona {
            Persona(kind: .acquired(version: version, platform: .macOS, date: date))
        }

        /// A test customer that the service created: pass the token that `tenure persona create` prints.
        public static func token(_ token: String) -> Persona { Persona(kind: .token(token)) }

        /// The persona with the proof of when and in which version it got the app. Nil for a persona of the service.
        var evidence: TenureCore.Persona? {
            guard case .acquired(let version, let platform, let date) = kind else { return nil }
            return TenureCore.Persona(
                name: "early buyer of \(version)",
                proof: AppProof(
                    kind: .appTransaction, signedDate: nil, id: nil, originalPlatform: platform,
                    originalAppVersion: version, originalPurchaseDate: date))
        }

        /// The token of a persona of the service. Nil for any other persona.
        var token: String? {
            if case .token(let token) = kind { token } else { nil }
        }

        /// The persona's name in the stored state. If the name changes, the client discards the stored answers, because
        /// they are about another persona. The name contains no token.
        var storedName: String {
            switch kind {
            case .token(let token): token.hashed
            case .acquired(let version, let platform, let date):
                "\(platform.rawValue)/\(version)/\(date.timeIntervalSince1970)".hashed
            }
        }
    }
}
