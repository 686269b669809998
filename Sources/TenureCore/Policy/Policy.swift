public import Foundation

/// How an app's business changed, and what each customer keeps. What the developer writes.
///
/// A policy that exists is sound: `init` throws every mistake at once.
public struct Policy: Sendable, Hashable {
    public struct App: Sendable, Hashable {
        public let bundleID: String
        /// The app's Apple ID (adam id). Production artifacts name it.
        public let appleID: Int64?

        public init(bundleID: String, appleID: Int64? = nil) {
            self.bundleID = bundleID
            self.appleID = appleID
        }
    }

    /// Whether the build numbers of an iOS-like platform ever began again.
    public enum BuildNumbers: String, Sendable, Hashable, CaseIterable {
        case increasing, restarted
    }

    /// What a doubt that no proof resolves becomes.
    public enum InDoubt: String, Sendable, Hashable, CaseIterable {
        case favourCustomer, undetermined
    }

    /// What a yes-or-no question gets while the answer is undetermined.
    public enum WhileUndetermined: Sendable, Hashable {
        /// Yes, for that long since the customer was first seen.
        case allow(TimeInterval)
        case deny
    }

    /// What eras give in Sandbox and in Xcode, where every original version and date is invented.
    public enum TestEnvironments: String, Sendable, Hashable, CaseIterable {
        /// Nothing: as App Review and TestFlight should meet the app.
        case newCustomer
        /// What the first honoured era gives.
        case owner
        case undetermined
    }

    public let app: App
    /// Oldest first; each runs until the next begins.
    public let eras: [Era]
    public let buildNumbers: BuildNumbers?
    /// Every release ever shipped; empty where the policy has no list.
    public let releases: [Release]
    public let entitlements: [Entitlement]
    public let inDoubt: InDoubt
    public let whileUndetermined: WhileUndetermined
    public let testEnvironments: TestEnvironments

    /// The eras as each platform saw them.
    package let timelines: Timelines

    /// - Throws: `InvalidPolicy` with every mistake, each with its place in the policy.
    public init(
        app: App,
        eras: [Era],
        buildNumbers: BuildNumbers? = nil,
        releases: [Release] = [],
        entitlements: [Entitlement],
        inDoubt: InDoubt = .favourCustomer,
        whileUndetermined: WhileUndetermined = .allow(72 * 3600),
        testEnvironments: TestEnvironments = .newCustomer
    ) throws(InvalidPolicy) {
        self.app = app
        self.eras = eras
        self.buildNumbers = buildNumbers
        self.releases = releases
        self.inDoubt = inDoubt
        self.whileUndetermined = whileUndetermined
        self.testEnvironments = testEnvironments
        let names = eras.map(\.name)
        self.entitlements = entitlements.map { $0.resolved(eraNames: names) }
        timelines = Timelines(eras: eras, releases: releases, buildNumbers: buildNumbers)
        let mistakes = mistakes
        if !mistakes.isEmpty { throw InvalidPolicy(mistakes: mistakes) }
    }

    package func entitlement(named name: String) -> Entitlement? {
        entitlements.first { $0.name == name }
    }
}
