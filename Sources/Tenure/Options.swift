public import Foundation
public import TenureCore

extension Tenure {
    /// Settings with which an app differs from the defaults.
    public struct Options: Sendable {
        /// When Tenure finishes a transaction. Until then the App Store delivers it again at each start.
        ///
        /// Tenure finishes only products that the policy or the service's catalog names, and never a consumable. The app
        /// finishes those itself, by `contentArrived(for:)` or `Transaction.finish()`, once it has delivered them.
        public enum Finishing: Sendable, Hashable {
            /// As soon as the transaction is stored on the device, or acknowledged by the service.
            case whenRecorded
            /// These products after the app has called `contentArrived(for:)`, or after all their asset packs are installed.
            /// All others as soon as they are recorded.
            case afterContent(of: Set<String>)
            /// Never. The app finishes all transactions itself.
            case never
        }

        /// What copies get that weren't installed from the App Store. They can't prove anything.
        public enum OutsideAppStore: Sendable, Hashable {
            /// Everything is allowed, because another store took the money.
            case allow
            /// Everything is denied.
            case deny
            /// The same as customers about whom nothing is known: see `whileUndetermined`.
            case undetermined
        }

        /// When transactions are finished.
        public var finishing = Finishing.whenRecorded
        /// The decisions for copies that weren't installed from the App Store.
        public var outsideAppStore = OutsideAppStore.undetermined
        /// What `allows(_:)` returns while a decision is undetermined, and for how long since this device was first seen.
        /// Nil: the policy's `whileUndetermined`. For a client with a service and no policy, nil means 72 hours. If the
        /// policy can't be read, nothing is allowed.
        public var whileUndetermined: Policy.WhileUndetermined?
        /// The timeout of one StoreKit call, in seconds.
        public var appStoreTimeout: Double = 8
        /// The timeout of one request to the service, in seconds.
        public var serviceTimeout: Double = 15
        /// How long `restore()` waits for the customer to sign in, in seconds. The sign-in itself has no time limit.
        public var restoreTimeout: Double = 60
        /// A test customer for builds from Xcode and TestFlight. Ignored in every copy from the App Store.
        public var persona: Persona?
        /// The customer's languages, the preferred one first: `Answer.sentence` has the policy's titles in the first of them
        /// that the policy gives. The service gets them as `Accept-Language`.
        public var languages = Locale.preferredLanguages
        /// Receives the client's log lines.
        public var log = Log.standard
        /// The folder for the stored state. Nil: the keychain on Apple's platforms, elsewhere `~/.local/share/tenure`.
        public var folder: URL?
        /// The App Group that shares the state between the app and its extensions, such as `group.com.example.app`; nil:
        /// each keeps a separate state. On Linux, a folder that the processes share.
        ///
        /// Setting it in a later release moves the state to the group. The group must be among the App Groups of the app and of each
        /// extension.
        public var accessGroup: String?

        /// Where asset packs come from: see `Tenure.content`. Nil: the app has none.
        public var content: ContentSources?
        /// The bytes that downloads may transfer over an expensive network without consent, for all packs together.
        public var expensiveNetworkLimit: Int64 = 50_000_000

        /// Creates options with the defaults that suit most apps.
        public init() {}
    }

    /// A test customer for builds from Xcode and TestFlight.
    ///
    /// Sandbox and Xcode report the same original version and date for every customer, so a build under test can't meet the
    /// policy's cutoff. With a persona it can.
    public struct Persona: Sendable, Hashable {
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

        /// A persona of the service: the token that `tenure persona create` prints.
        public static func token(_ token: String) -> Persona { Persona(kind: .token(token)) }
    }
}

extension Tenure.Persona {
    /// What a persona that needs no service proves.
    var evidence: TenureCore.Persona? {
        guard case .acquired(let version, let platform, let date) = kind else { return nil }
        return TenureCore.Persona(
            name: "early buyer of \(version)",
            proof: AppProof(
                kind: .appTransaction, signedDate: nil, id: nil, originalPlatform: platform,
                originalAppVersion: version, originalPurchaseDate: date))
    }

    var token: String? {
        if case .token(let token) = kind { token } else { nil }
    }

    /// The name under which the stored state remembers the persona of its answers. It reveals no token.
    var storedName: String {
        switch kind {
        case .token(let token): token.hashed
        case .acquired(let version, let platform, let date):
            "\(platform.rawValue)/\(version)/\(date.timeIntervalSince1970)".hashed
        }
    }
}
