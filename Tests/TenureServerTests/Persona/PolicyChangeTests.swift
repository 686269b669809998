import Foundation
import TenureCore
import Testing

@testable import TenureServer

/// The change of business model from which ready-made personas are derived.
@Suite struct `the change of business model in a policy` {
    private static let day: TimeInterval = 86_400
    /// The date of the change on iOS in `Calculator.policy()`: 2015-06-10T18:00:00Z.
    private static let change = Date(timeIntervalSince1970: 1_433_959_200)

    private func policy(
        _ eras: [Era], releases: [Release] = [], honors: [String] = ["paid"]
    ) throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator"), eras: eras, buildNumbers: .increasing,
            releases: releases,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: Calculator.everything)],
                    honors: honors.isEmpty ? nil : honors.map { Honor(era: $0) })
            ])
    }

    /// A paid era, and a free era that begins with this build on iOS.
    private func eras(_ version: String?, _ date: Date?) -> [Era] {
        [
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [.iOS: .at(version: version.flatMap { AppVersion($0) }, date: date)], changeover: .noWindow),
        ]
    }

    private func release(_ platform: Platform, _ build: String, _ moment: Release.Moment) -> Release {
        Release(platform: platform, version: nil, build: AppVersion(build), releasedAt: moment)
    }

    @Test func `on tvOS and visionOS, the change is that of iOS, but the persona is of the platform`() throws {
        for platform in [Platform.tvOS, .watchOS, .visionOS] {
            let made = ReadyMadePersonas(try Calculator.policy(), on: platform, signed: Calculator.now).personas
            let last = try #require(made.first { $0.name == "last-paid-build" }).proof
            #expect(last.originalPlatform == platform && last.originalAppVersion == "119")
            #expect(last.originalPurchaseDate == Self.change - 2 * Self.day)
        }
    }

    @Test func `on macOS, the personas have marketing versions, and the dates of the change on macOS`() throws {
        let made = ReadyMadePersonas(try Calculator.policy(), on: .macOS, signed: Calculator.now)
        func settings(_ name: String) -> [String: String] {
            Dictionary(uniqueKeysWithValues: made.personas.first { $0.name == name }?.proof.settings ?? [])
        }
        #expect(
            settings("first-buyer") == [
                "originalPlatform": "macOS", "originalAppVersion": "1.0",
                "originalPurchaseDate": "2014-06-12T18:00:00Z",
            ])
        #expect(
            settings("last-paid-build") == [
                "originalPlatform": "macOS", "originalAppVersion": "1.9",
                "originalPurchaseDate": "2015-06-10T18:00:00Z",
            ])
        #expect(
            settings("after-the-change") == [
                "originalPlatform": "macOS", "originalAppVersion": "2.0",
                "originalPurchaseDate": "2015-06-15T18:00:00Z",
            ])
        #expect(made.omittedPersonas.map(\.name) == ["mac-buyer-on-iphone"])
    }

    @Test func `the change follows the era in which the app came to the platform`() throws {
        let later = Self.change + 400 * Self.day
        let three = try policy([
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [.iOS: .at(version: AppVersion("120"), date: Self.change), .macOS: .new],
                changeover: .noWindow),
            Era(
                name: "subscription", model: .free,
                begins: [
                    .iOS: .at(version: AppVersion("200"), date: later),
                    .macOS: .at(version: AppVersion("3.0"), date: later),
                ], changeover: .noWindow),
        ])
        let mac = try #require(PolicyChange(of: three, on: .macOS))
        #expect(mac.era.name == "freemium" && mac.version == AppVersion("3.0") && mac.date == later)
        // On iOS, the change that matters is the one after which the paid era's customers differ from later ones.
        let phone = try #require(PolicyChange(of: three, on: .iOS))
        #expect(phone.era.name == "paid" && phone.version == AppVersion("120") && phone.date == Self.change)
        // The era after the change ended later, so its customer comes a day after the change.
        #expect(phone.dateAfter == Self.change + Self.day && phone.dateBefore == Self.change - Self.day)

        let two = try policy([
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [.iOS: .at(version: AppVersion("120"), date: nil), .macOS: .new]),
        ])
        #expect(PolicyChange(of: two, on: .macOS) == nil)
        let omitted = ReadyMadePersonas(two, on: .iOS, signed: Calculator.now).omittedPersonas.map(\.name)
        #expect(omitted.contains("mac-buyer-on-iphone"))
    }

    @Test func `without an honored era, the change is the last one`() throws {
        let later = Self.change + 400 * Self.day
        let three = try policy(
            eras("120", Self.change) + [
                Era(
                    name: "subscription", model: .free,
                    begins: [.iOS: .at(version: AppVersion("200"), date: later)], changeover: .noWindow)
            ], honors: [])
        let change = try #require(PolicyChange(of: three, on: .iOS))
        #expect(change.era.name == "freemium" && change.version == AppVersion("200") && change.date == later)
        // A year before the first change, not the last one.
        #expect(change.first.version == "1" && change.first.date == Self.change - 365 * Self.day)
    }

    @Test func `the first version is unknown if the change came with it`() throws {
        let change = try #require(PolicyChange(of: try policy(eras("1", Self.change)), on: .iOS))
        #expect(change.first.version == nil && change.first.date == Self.change - 365 * Self.day)
        let next = try #require(PolicyChange(of: try policy(eras("2", nil)), on: .iOS))
        #expect(next.first.version == "1" && next.first.date == nil)
    }

    @Test func `the list of releases gives the date of the change, and the version before it by date`() throws {
        let releases = [
            release(.iOS, "120", .instant(Self.change)), release(.iOS, "97", .instant(Self.change - 40 * Self.day)),
            release(.iOS, "3", .instant(Self.change - 900 * Self.day)),
        ]
        let change = try #require(
            PolicyChange(of: try policy(eras("120", nil), releases: releases), on: .iOS))
        #expect(change.date == Self.change && change.dateBefore == Self.change - Self.day)
        #expect(change.versionBefore == "97")
        #expect(change.first.version == "3" && change.first.date == Self.change - 900 * Self.day)
        // Without an earlier release in the list, the version just below the change is used.
        let only = try policy(eras("120", nil), releases: Array(releases.prefix(1)))
        #expect(PolicyChange(of: only, on: .iOS)?.versionBefore == "119")
    }

    @Test func `a list of releases with undated ones is in the order in which it is written`() throws {
        let releases = [
            release(.iOS, "3", .undated), release(.iOS, "97", .instant(Self.change - 40 * Self.day)),
            release(.iOS, "120", .undated),
        ]
        let change = try #require(
            PolicyChange(of: try policy(eras("120", Self.change), releases: releases), on: .iOS))
        #expect(change.versionBefore == "97" && change.first.version == "3" && change.first.date == nil)
    }

    @Test func `a platform's own releases count, or else those of iOS, but never on macOS`() throws {
        let releases = [
            release(.iOS, "97", .instant(Self.change - 40 * Self.day)), release(.iOS, "120", .instant(Self.change)),
            release(.tvOS, "110", .instant(Self.change - 20 * Self.day)), release(.tvOS, "120", .instant(Self.change)),
        ]
        let usual = try Calculator.policy()
        let listed = try policy(usual.eras, releases: releases)
        let versions = [Platform.iOS, .tvOS, .visionOS, .macOS].map {
            PolicyChange(of: listed, on: $0)?.versionBefore
        }
        #expect(versions == ["97", "110", "97", "1.9"])
    }

    @Test func `ready-made personas are for the first platform in the policy's eras and releases, or for iOS`() throws {
        let free = [Era(name: "paid", model: .paid)]
        let watch = release(.watchOS, "7", .instant(Self.change))
        #expect(ReadyMadePersonas.platform(of: try policy(free)) == .iOS)
        #expect(ReadyMadePersonas.platform(of: try policy(free, releases: [watch])) == .watchOS)
        let mac = Era(
            name: "freemium", model: .free, begins: [.macOS: .at(version: AppVersion("2.0"), date: nil)])
        #expect(ReadyMadePersonas.platform(of: try policy(free + [mac], releases: [watch])) == .macOS)
        let phone = release(.iOS, "7", .instant(Self.change))
        #expect(ReadyMadePersonas.platform(of: try policy(free + [mac], releases: [watch, phone])) == .iOS)
    }
}
