public import Foundation
public import TenureCore
import TenureJSON

extension Tenure {
    /// Entitlements for customers by the version that they first got, by their original purchase date, or by both.
    ///
    /// Use `VersionRights` only in an app that already has lists of versions or dates. Prefer a policy, which also
    /// covers platforms and the days around a change, and gives reasons. These rights only add entitlements; they never
    /// remove an entitlement.
    public struct VersionRights: Sendable, Hashable {
        /// One registered rule.
        private struct Rule: Sendable, Hashable {
            let entitlement: String
            /// The versions in which the customer must have got the app. Nil for any version.
            let versions: Set<AppVersion>?
            /// The date before which the customer must have got the app. Nil for any date.
            let purchasedBefore: Date?
            /// The platform on which the customer first got the app. Nil for any platform.
            let platform: Platform?
        }

        private var rules: [Rule] = []

        /// Creates rights without rules, which grant nothing.
        public init() {}

        /// The entitlements with at least one registered rule.
        public var entitlements: Set<String> { Set(rules.map(\.entitlement)) }

        /// Whether nothing is registered.
        public var isEmpty: Bool { rules.isEmpty }

        /// Grants an entitlement to customers who first got the app in one of the versions and before the date. A nil
        /// parameter is ignored. Registering an entitlement again adds to its customers.
        ///
        /// - Parameters:
        ///   - versions: original versions as the App Store reports them: builds (CFBundleVersion), and on macOS
        ///     marketing versions (CFBundleShortVersionString). They are compared by number: `1.0` equals `1`, and
        ///     `1.10` doesn't equal `1.1`.
        ///   - purchasedBefore: the date before which the customer must have got the app.
        ///   - platform: the platform on which the customer first got the app; nil for any. An app with universal
        ///     purchase (iOS and macOS) has two kinds of versions. Register each kind separately.
        /// - Throws: `InvalidVersionList` if a version is malformed, or if both `versions` and `purchasedBefore` are
        ///   nil.
        public mutating func register(
            entitlement: String, versions: [String]? = nil, purchasedBefore: Date? = nil, on platform: Platform? = nil
        ) throws(Tenure.InvalidVersionList) {
            guard versions != nil || purchasedBefore != nil else { throw .noCriteria(entitlement: entitlement) }
            let malformed = (versions ?? []).filter { AppVersion($0) == nil }
            guard malformed.isEmpty else { throw .malformed(malformed) }
            let rule = Rule(
                entitlement: entitlement, versions: versions.map { Set($0.compactMap { AppVersion($0) }) },
                purchasedBefore: purchasedBefore, platform: platform)
            if !rules.contains(rule) { rules.append(rule) }
        }

        /// Removes everything that was registered for an entitlement. Grants from other sources don't change.
        public mutating func unregister(entitlement: String) { rules.removeAll { $0.entitlement == entitlement } }

        /// Returns the entitlements that these rights grant to a customer who got the app as `acquisition` says.
        ///
        /// Returns no entitlements in the sandbox and in Xcode, where all customers have the same invented version and
        /// date. Also returns none for a refunded app or an expired license. A rule doesn't match if the version or
        /// date that it needs is missing or unreadable.
        public func rights(
            of acquisition: Acquisition?, in environment: AppStoreEnvironment?, at now: Date
        ) -> Set<String> {
            guard let acquisition, environment?.isProduction == true, acquisition.refund == nil,
                acquisition.expirationDate.map({ now < $0 }) ?? true
            else { return [] }
            let matching = rules.filter { rule in
                if let platform = rule.platform, acquisition.originalPlatform != platform { return false }
                if let versions = rule.versions {
                    guard let version = acquisition.version, versions.contains(version) else { return false }
                }
                if let end = rule.purchasedBefore {
                    guard let date = acquisition.originalPurchaseDate, date < end else { return false }
                }
                return true
            }
            return Set(matching.map(\.entitlement))
        }
    }

    /// The reason why `register` refused a rule. A refused rule grants nothing.
    public enum InvalidVersionList: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// These texts aren't valid versions.
        case malformed([String])
        /// The rule has neither versions nor a date, so it would grant the entitlement to every customer.
        case noCriteria(entitlement: String)

        /// The problem and its fix on one line, for a log.
        public var description: String { "\(texts.problem); \(texts.recovery)" }
        /// The problem in one English sentence.
        public var errorDescription: String? { texts.problem }
        /// What the developer can do about the problem.
        public var recoverySuggestion: String? { texts.recovery }

        private var texts: (problem: String, recovery: String) {
            switch self {
            case .malformed(let versions):
                (
                    "these aren't versions that the App Store reports: "
                        + versions.map { "`\($0)`" }.joined(separator: ", "),
                    "write numbers separated by periods, such as `1.2`"
                )
            case .noCriteria(let entitlement):
                (
                    "the rule for `\(entitlement)` has neither versions nor a date, so it would apply to every customer",
                    "pass `versions`, `purchasedBefore`, or both"
                )
            }
        }
    }

    /// Grants an entitlement to customers who first got the app in one of these versions and before the date. Pass
    /// `versions`, `purchasedBefore` or both; a nil parameter is ignored. Use a policy instead if you can.
    /// `VersionRights` says why, and explains the parameters.
    ///
    /// The grant lasts until the process ends, so register at each start, before the first call of `allows(_:)`.
    public func register(
        entitlement: String, versions: [String]? = nil, purchasedBefore: Date? = nil, on platform: Platform? = nil
    ) async throws(Tenure.InvalidVersionList) {
        try await engine.register(
            entitlement: entitlement, versions: versions, purchasedBefore: purchasedBefore, on: platform)
    }

    /// Removes everything that was registered for an entitlement. Grants from other sources don't change.
    public func unregister(entitlement: String) async { await engine.unregister(entitlement: entitlement) }
}

extension Engine {
    /// Adds a rule, and publishes the answers that it changes.
    fileprivate func register(
        entitlement: String, versions: [String]?, purchasedBefore: Date?, on platform: Platform?
    ) throws(Tenure.InvalidVersionList) {
        load()
        try device.facts.versionRights.register(
            entitlement: entitlement, versions: versions, purchasedBefore: purchasedBefore, on: platform)
        device.post()
    }

    fileprivate func unregister(entitlement: String) {
        load()
        device.facts.versionRights.unregister(entitlement: entitlement)
        device.post()
    }
}

/// Adds the rights that the app registered with `Tenure.register` to the answers.
extension Evaluation {
    /// Returns the answers with the rights from `Tenure.register` added. Granted answers don't change.
    ///
    /// An entitlement may be registered only for other versions or dates than the customer's. If the policy and the
    /// service have no such entitlement, it is denied. Until the app transaction was read, it is undetermined instead.
    func answers(addingTo answers: [String: Tenure.Answer]) -> [String: Tenure.Answer] {
        var answers = answers
        let (account, now) = (stored.account, stored.time.now(clock))
        let owned = acquisitions(in: account.proofs)
        for name in facts.versionRights.entitlements where answers[name]?.outcome != .granted {
            let matching = owned.first { acquisition in
                facts.versionRights.rights(of: acquisition, in: account.environment, at: now).contains(name)
            }
            if let matching {
                answers[name] = .registered(name, title: title(of: name), matching)
            } else if answers[name] == nil {
                answers[name] =
                    snapshot.appTransaction == nil
                    ? .unanswered(name, title: title(of: name)) : .notRegistered(name, title: title(of: name))
            }
        }
        return answers
    }
}

extension Tenure.Answer {
    /// Returns a granted answer, with the version and date in which the customer got the app (`acquisition`) as facts.
    fileprivate static func registered(_ entitlement: String, title: String?, _ acquisition: Acquisition) -> Self {
        var facts: [String: [String]] = [:]
        facts["originalAppVersion"] = acquisition.originalAppVersion.map { [$0] }
        facts["originalPurchaseDate"] = acquisition.originalPurchaseDate.map { [$0.rfc3339] }
        return Self(
            entitlement: entitlement, outcome: .granted, until: nil,
            sentence: "“\(title ?? entitlement)” is yours: you got the app early enough.",
            reasons: [Reason(DeviceReason.registeredVersion.rawValue, facts)], nextSteps: [])
    }

    /// Returns the denial of an entitlement that was registered only for other versions or dates than the customer's.
    fileprivate static func notRegistered(_ entitlement: String, title: String?) -> Self {
        Self(
            entitlement: entitlement, outcome: .denied, until: nil,
            sentence:
                "“\(title ?? entitlement)” isn't included with your copy of the app: it was included only for people who got the app earlier. "
                + "If this seems wrong, please contact our support team.",
            reasons: [Reason(DeviceReason.notRegistered.rawValue)], nextSteps: [])
    }
}
