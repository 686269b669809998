public import Foundation
public import TenureCore

extension Tenure {
    /// Rights for those who come from lists of versions: whoever first got the app in one of these versions, or before that
    /// day, has an entitlement.
    ///
    /// A policy says the same better, and says more: what a build proves on which platform, what happens around a change,
    /// and why. This is for an app that has such lists already. What stands here only ever gives; it takes nothing that
    /// anything else gives.
    public struct VersionRights: Sendable, Hashable {
        private struct Rule: Sendable, Hashable {
            let entitlement: String
            /// Nil: any.
            let versions: Set<AppVersion>?
            let purchasedBefore: Date?
            let platform: Platform?
        }

        private var rules: [Rule] = []

        public init() {}

        /// The entitlements that something was registered for.
        public var entitlements: Set<String> { Set(rules.map(\.entitlement)) }

        public var isEmpty: Bool { rules.isEmpty }

        /// Gives an entitlement to those who first got the app in one of the versions and before that instant. What is nil
        /// does not matter; where both are said, both must hold. Registered again it gives more, not less.
        ///
        /// - Parameters:
        ///   - versions: as the App Store reports the original version: builds (CFBundleVersion), and on macOS marketing
        ///     versions (CFBundleShortVersionString). They are compared by their numbers: `1.0` is `1`, and `1.10` is not
        ///     `1.1`.
        ///   - purchasedBefore: exclusive.
        ///   - platform: only who first got the app there; nil: on any. An app that is the same purchase on iOS and on the
        ///     Mac has two kinds of versions, and needs a list for each.
        /// - Throws: where a text is no version, or neither versions nor a date were said: that would be everybody.
        public mutating func register(
            entitlement: String, versions: [String]? = nil, purchasedBefore: Date? = nil, on platform: Platform? = nil
        ) throws(Tenure.InvalidVersionList) {
            guard versions != nil || purchasedBefore != nil else { throw .saysNothing(entitlement: entitlement) }
            var read: Set<AppVersion> = []
            var malformed: [String] = []
            for text in versions ?? [] {
                if let version = AppVersion(text) { read.insert(version) } else { malformed.append(text) }
            }
            guard malformed.isEmpty else { throw .malformed(malformed) }
            let rule = Rule(
                entitlement: entitlement, versions: versions == nil ? nil : read, purchasedBefore: purchasedBefore,
                platform: platform)
            if !rules.contains(rule) { rules.append(rule) }
        }

        /// Takes back everything that was registered for an entitlement. Nothing else that gives it is touched.
        public mutating func unregister(entitlement: String) {
            rules.removeAll { $0.entitlement == entitlement }
        }

        /// What these rights give to whoever acquired the app like that.
        ///
        /// Sandbox and Xcode invent version and date, so that they would pass every list; there nothing is given. Nor is it
        /// for an app that was refunded, or a licence that has ended. A fact that is missing or unreadable meets no rule.
        public func rights(
            of acquisition: Acquisition?, in environment: AppStoreEnvironment?, at now: Date
        ) -> Set<String> {
            guard let acquisition, environment?.isProduction == true, acquisition.refund == nil,
                acquisition.expirationDate.map({ now < $0 }) ?? true
            else { return [] }
            let met = rules.filter { rule in
                if let platform = rule.platform, acquisition.originalPlatform != platform { return false }
                if let versions = rule.versions {
                    guard let version = acquisition.version, versions.contains(version) else { return false }
                }
                if let end = rule.purchasedBefore {
                    guard let date = acquisition.originalPurchaseDate, date < end else { return false }
                }
                return true
            }
            return Set(met.map(\.entitlement))
        }
    }
}

extension Tenure {
    /// Why a list of versions is not taken.
    public enum InvalidVersionList: Swift.Error, Sendable, Hashable, CustomStringConvertible {
        case malformed([String])
        case saysNothing(entitlement: String)

        public var description: String {
            switch self {
            case .malformed(let texts):
                "\(texts.map { "`\($0)`" }.joined(separator: ", ")) can be no version that the App Store reports; write numbers separated by periods, such as `1.2`"
            case .saysNothing(let entitlement):
                "`\(entitlement)` would be everybody's; say which versions, before when it was purchased, or both"
            }
        }
    }
}
