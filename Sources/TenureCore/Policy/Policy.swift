public import Foundation

/// The developer's description of how the app's business model changed, and what each customer keeps.
///
/// Every policy is valid: `init` throws all mistakes at once.
public struct Policy: Sendable, Hashable {
    /// The app that the policy is about. Artifacts of other apps are rejected.
    public struct App: Sendable, Hashable {
        /// CFBundleIdentifier, such as `com.example.calculator`.
        public let bundleID: String
        /// The app's Apple ID (adam id). Production artifacts contain it.
        public let appleID: Int64?

        /// - Parameter appleID: leave it out for an app without a page in App Store Connect.
        public init(bundleID: String, appleID: Int64? = nil) {
            self.bundleID = bundleID
            self.appleID = appleID
        }
    }

    /// Whether every build number was higher than all earlier build numbers, or the numbers have restarted. The setting
    /// applies to all platforms except macOS, where the App Store reports marketing versions.
    public enum BuildNumbers: String, Sendable, Hashable, CaseIterable {
        /// Builds are in the order of their numbers, so a number below an era's first build proves an earlier era.
        case increasing
        /// A low number may be new, so a build proves an era only if the release list has the build.
        case restarted
    }

    /// The outcome if the proofs leave several eras possible and only some give the entitlement (rule D1 of
    /// Docs/decision-rules.md).
    public enum InDoubt: String, Sendable, Hashable, CaseIterable {
        /// The entitlement is granted, as if only the eras that give it were possible.
        case favorCustomer
        /// The decision is undetermined until further evidence comes.
        case undetermined
    }

    /// What the client library's `allows` returns while a decision is undetermined.
    public enum WhileUndetermined: Sendable, Hashable {
        /// `allows` returns true for this number of seconds since the app's first start on the device, then false. The
        /// service allows downloads for the same number of seconds since the customer was created.
        case allow(TimeInterval)
        /// `allows` returns false.
        case deny
    }

    /// What eras give in Sandbox and Xcode, where original versions and dates are invented (rule I2).
    public enum TestEnvironments: String, Sendable, Hashable, CaseIterable {
        /// Eras give nothing. App Review and TestFlight see the app as new customers do.
        case newCustomer
        /// Eras give what the oldest honored era gives. Testers see the app as customers of that era do.
        case owner
        /// Eras neither grant nor deny. If no other source grants the entitlement, `allows` returns what
        /// `whileUndetermined` says.
        case undetermined
    }

    /// The app that the policy is about.
    public var app: App { shared.contents.app }
    /// The eras, the oldest first. Each era lasts until the next era begins.
    public var eras: [Era] { shared.contents.eras }
    /// Whether builds can be compared without a release list (rule A6); nil if the policy doesn't state it.
    public var buildNumbers: BuildNumbers? { shared.contents.buildNumbers }
    /// All releases of the app. Empty if the policy has no release list.
    public var releases: [Release] { shared.contents.releases }
    /// The entitlements in the order of the policy. Decisions have the same order.
    public var entitlements: [Entitlement] { shared.contents.entitlements }
    /// The outcome if the proofs leave several eras possible and only some give the entitlement (rule D1).
    public var inDoubt: InDoubt { shared.contents.inDoubt }
    /// What `allows` returns while a decision is undetermined.
    public var whileUndetermined: WhileUndetermined { shared.contents.whileUndetermined }
    /// What eras give in Sandbox and in Xcode (rule I2).
    public var testEnvironments: TestEnvironments { shared.contents.testEnvironments }
    /// Findings of the linter that the developer intends.
    public var acknowledgments: [Acknowledgment] { shared.contents.acknowledgments }

    /// The eras on each platform.
    package var timelines: Timelines { shared.timelines }

    /// The properties and the timelines, in a class, so that copying a policy is fast: every decision has a copy.
    private let shared: Shared

    /// - Throws: `InvalidPolicy` with every mistake, and where it is in the policy.
    public init(
        app: App, eras: [Era], buildNumbers: BuildNumbers? = nil, releases: [Release] = [], entitlements: [Entitlement],
        inDoubt: InDoubt = .favorCustomer, whileUndetermined: WhileUndetermined = .allow(72 * 3600),
        testEnvironments: TestEnvironments = .newCustomer, acknowledgments: [Acknowledgment] = []
    ) throws(InvalidPolicy) {
        let names = eras.map(\.name)
        shared = Shared(
            Contents(
                app: app, eras: eras, buildNumbers: buildNumbers, releases: releases,
                entitlements: entitlements.map { $0.resolved(eraNames: names) }, inDoubt: inDoubt,
                whileUndetermined: whileUndetermined, testEnvironments: testEnvironments,
                acknowledgments: acknowledgments))
        let mistakes = mistakes
        if !mistakes.isEmpty { throw InvalidPolicy(mistakes: mistakes) }
    }

    /// Everything that the developer wrote.
    private struct Contents: Sendable, Equatable {
        let app: App
        let eras: [Era]
        let buildNumbers: BuildNumbers?
        let releases: [Release]
        let entitlements: [Entitlement]
        let inDoubt: InDoubt
        let whileUndetermined: WhileUndetermined
        let testEnvironments: TestEnvironments
        let acknowledgments: [Acknowledgment]
    }

    private final class Shared: Sendable {
        let contents: Contents
        let timelines: Timelines

        init(_ contents: Contents) {
            self.contents = contents
            timelines = Timelines(eras: contents.eras, releases: contents.releases, buildNumbers: contents.buildNumbers)
        }
    }

    /// Compares the properties that the developer wrote. `timelines` is computed from these properties.
    public static func == (left: Policy, right: Policy) -> Bool {
        left.shared === right.shared || left.shared.contents == right.shared.contents
    }

    /// Hashes only three of the compared properties, which is faster.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(app)
        hasher.combine(eras)
        hasher.combine(entitlements)
    }

    package func entitlement(named name: String) -> Entitlement? { entitlements.first { $0.name == name } }

    /// The name of an era; empty if the policy has no such era.
    func name(ofEra index: Int) -> String { eras.indices.contains(index) ? eras[index].name : "" }
}

/// The developer's statement that one finding of `tenure policy check` is intended. An acknowledgment changes no
/// decision.
public struct Acknowledgment: Sendable, Hashable {
    /// The code of the rule that reported the finding, such as `right-lost`.
    public let code: String
    /// Where the finding is in the policy, as `tenure policy check` prints it: `eras/freemium/begins/iOS`.
    public let at: String
    /// Why the finding is intended, for later readers of the policy.
    public let reason: String

    /// - Parameter reason: not empty.
    public init(code: String, at: String, reason: String) {
        self.code = code
        self.at = at
        self.reason = reason
    }
}
