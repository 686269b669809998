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
        case favorCustomer, undetermined
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
        /// What the first honored era gives.
        case owner
        case undetermined
    }

    public var app: App { contents.app }
    /// Oldest first; each runs until the next begins.
    public var eras: [Era] { contents.eras }
    public var buildNumbers: BuildNumbers? { contents.buildNumbers }
    /// Every release ever shipped; empty where the policy has no list.
    public var releases: [Release] { contents.releases }
    public var entitlements: [Entitlement] { contents.entitlements }
    public var inDoubt: InDoubt { contents.inDoubt }
    public var whileUndetermined: WhileUndetermined { contents.whileUndetermined }
    public var testEnvironments: TestEnvironments { contents.testEnvironments }
    /// Findings of the linter that the developer intends.
    public var acknowledgments: [Acknowledgment] { contents.acknowledgments }

    /// The eras as each platform saw them.
    package var timelines: Timelines { contents.timelines }

    /// A policy is made once and stands beside every decision: a copy of it is a reference.
    private let contents: Contents

    /// - Throws: `InvalidPolicy` with every mistake, each with its place in the policy.
    public init(
        app: App,
        eras: [Era],
        buildNumbers: BuildNumbers? = nil,
        releases: [Release] = [],
        entitlements: [Entitlement],
        inDoubt: InDoubt = .favorCustomer,
        whileUndetermined: WhileUndetermined = .allow(72 * 3600),
        testEnvironments: TestEnvironments = .newCustomer,
        acknowledgments: [Acknowledgment] = []
    ) throws(InvalidPolicy) {
        let names = eras.map(\.name)
        contents = Contents(
            app: app, eras: eras, buildNumbers: buildNumbers, releases: releases,
            entitlements: entitlements.map { $0.resolved(eraNames: names) }, inDoubt: inDoubt,
            whileUndetermined: whileUndetermined, testEnvironments: testEnvironments,
            acknowledgments: acknowledgments,
            timelines: Timelines(eras: eras, releases: releases, buildNumbers: buildNumbers))
        let mistakes = mistakes
        if !mistakes.isEmpty { throw InvalidPolicy(mistakes: mistakes) }
    }

    private final class Contents: Sendable {
        let app: App
        let eras: [Era]
        let buildNumbers: BuildNumbers?
        let releases: [Release]
        let entitlements: [Entitlement]
        let inDoubt: InDoubt
        let whileUndetermined: WhileUndetermined
        let testEnvironments: TestEnvironments
        let acknowledgments: [Acknowledgment]
        let timelines: Timelines

        init(
            app: App, eras: [Era], buildNumbers: BuildNumbers?, releases: [Release], entitlements: [Entitlement],
            inDoubt: InDoubt, whileUndetermined: WhileUndetermined, testEnvironments: TestEnvironments,
            acknowledgments: [Acknowledgment], timelines: Timelines
        ) {
            self.app = app
            self.eras = eras
            self.buildNumbers = buildNumbers
            self.releases = releases
            self.entitlements = entitlements
            self.inDoubt = inDoubt
            self.whileUndetermined = whileUndetermined
            self.testEnvironments = testEnvironments
            self.acknowledgments = acknowledgments
            self.timelines = timelines
        }
    }

    /// What was written; the timelines follow from it.
    public static func == (left: Policy, right: Policy) -> Bool {
        left.contents === right.contents
            || left.app == right.app && left.eras == right.eras && left.buildNumbers == right.buildNumbers
                && left.releases == right.releases && left.entitlements == right.entitlements
                && left.inDoubt == right.inDoubt && left.whileUndetermined == right.whileUndetermined
                && left.testEnvironments == right.testEnvironments
                && left.acknowledgments == right.acknowledgments
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(app)
        hasher.combine(eras)
        hasher.combine(entitlements)
    }

    package func entitlement(named name: String) -> Entitlement? {
        entitlements.first { $0.name == name }
    }
}
