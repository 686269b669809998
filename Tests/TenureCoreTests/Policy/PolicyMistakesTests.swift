import Foundation
import Testing

@testable import TenureCore

@Suite struct PolicyMistakesTests {
    private func mistakes(_ make: () throws -> Policy) throws -> [PolicyMistake] {
        do {
            _ = try make()
            return []
        } catch let error as InvalidPolicy {
            return error.mistakes
        }
    }

    @Test func `a valid policy has no mistakes`() throws {
        #expect(try mistakes { try Calculator.policy() }.isEmpty)
    }

    @Test func `all mistakes of a policy are reported at once, each at its place`() throws {
        let found = try mistakes {
            try Policy(
                app: Policy.App(bundleID: "", appleID: 0),
                eras: [
                    Era(name: "paid", model: .paid),
                    Era(name: "paid", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: nil)]),
                    Era(name: "later", model: .free),
                ],
                entitlements: [
                    Entitlement(
                        name: "everything", products: [.init(id: "a"), .init(id: "a")],
                        honors: [Honor(era: "payed")], trial: .sessions(0))
                ])
        }
        #expect(
            found.map(\.path) == [
                ["app", "bundleID"], ["app", "appleID"], ["eras", 1, "name"], ["eras", 2], ["buildNumbers"],
                ["entitlements", "everything", "products", 1], ["entitlements", "everything", "honors", 0],
                ["entitlements", "everything", "trial"],
            ])
        let messages = [
            "the bundle ID is empty; write the app's, such as `com.example.calculator`",
            "`0` isn't an Apple ID; write the number from the app's page in App Store Connect",
            "`paid` names two eras; give each its own name, such as `paidAgain`",
            "`later` has no beginning; add `begins` with `build` (on macOS `version`), `at`, or both for each platform",
            "the policy doesn't state whether build numbers on iOS ever restarted; write `buildNumbers: increasing` if each build was higher than all earlier ones; if not, write `buildNumbers: restarted` or add a release list (`releases`)",
            "`a` is listed twice; keep one", "there is no era `payed`; write one of `paid`, `paid`, `later`",
            "a trial has at least 1 session or day, not 0; correct it, or remove `trial`",
        ]
        #expect(found.map(\.message) == messages)
    }

    @Test func `an empty name, an empty product ID and a repeated entitlement are reported at their places`() throws {
        let found = try mistakes {
            try Policy(
                app: Policy.App(bundleID: "com.example.calculator"),
                eras: [Era(name: "", model: .paid)],
                entitlements: [
                    Entitlement(name: "", products: [.init(id: "a")]),
                    Entitlement(name: "cloud", products: [.init(id: "a"), .init(id: "")]),
                    Entitlement(name: "cloud", products: [.init(id: "a")]),
                ])
        }
        #expect(
            found.map(\.path) == [
                ["eras", 0, "name"], ["entitlements", ""], ["entitlements", "cloud", "products", 1],
                ["entitlements", "cloud"],
            ])
        let messages = [
            "the name is empty; give the era one, such as `paid`",
            "an entitlement has no name; give it one, such as `everything`",
            "the product ID is empty; copy it from App Store Connect", "`cloud` is listed twice; keep one",
        ]
        #expect(found.map(\.message) == messages)
    }

    @Test func `the first era of a policy can't have a beginning`() throws {
        let eras = [Era(name: "paid", model: .paid, begins: [.iOS: .at(version: AppVersion("1"), date: nil)])]
        let found = try mistakes { try Calculator.policy(eras: eras) }
        #expect(found.map(\.path) == [["eras", 0, "begins"]])
        #expect(
            found.map(\.message) == [
                "the first era can't have `begins`; remove it, or add the era that came before to the top of `eras`"
            ])
    }

    @Test func `a policy without an era and without an entitlement says what to write`() throws {
        let found = try mistakes {
            try Policy(app: Policy.App(bundleID: "com.example.calculator"), eras: [], entitlements: [])
        }
        #expect(found.map(\.path) == [["eras"], ["entitlements"]])
        let messages = [
            "there is no era; write at least one, such as `- { name: paid, model: paid }`",
            "there is no entitlement; write what customers may use, such as `everything: { honors: [paid] }`",
        ]
        #expect(found.map(\.message) == messages)
    }

    @Test func `a beginning without a version and an instant is reported with the key of its platform`() throws {
        let empty = Beginning.at(version: nil, date: nil)
        let eras = [
            Era(name: "paid", model: .paid), Era(name: "freemium", model: .free, begins: [.macOS: empty, .iOS: empty]),
        ]
        let found = try mistakes { try Calculator.policy(eras: eras) }
        #expect(found.map(\.path) == [["eras", 1, "begins", "iOS"], ["eras", 1, "begins", "macOS"]])
        let messages = [
            "the beginning on iOS is empty; write `build`, `at`, or both",
            "the beginning on macOS is empty; write `version`, `at`, or both",
        ]
        #expect(found.map(\.message) == messages)
    }

    @Test func `a platform can't be new in an era if an earlier era begins on it`() throws {
        func found(_ promotion: Platform) throws -> [PolicyMistake] {
            let eras = [
                Era(name: "paid", model: .paid),
                Era(name: "promo", model: .free, begins: [promotion: .at(version: AppVersion("2.0"), date: nil)]),
                Era(name: "freemium", model: .free, begins: [.macOS: .new]),
            ]
            return try mistakes { try Calculator.policy(eras: eras) }
        }
        let message =
            "the app can't be `new` on macOS, because an earlier era begins there; remove `new` or that earlier beginning"
        #expect(try found(.macOS) == [PolicyMistake(["eras", 2, "begins", "macOS"], message, code: "eras-backwards")])
        #expect(try found(.iOS) == [])
    }

    @Test(arguments: [64, 65]) func `a policy has at most 64 eras`(count: Int) throws {
        let eras = (0..<count).map { index in
            Era(
                name: "era\(index)", model: .paid,
                begins: index == 0 ? [:] : [.iOS: .at(version: AppVersion("\(index)"), date: nil)])
        }
        let found = try mistakes { try Calculator.policy(eras: eras, honors: [Honor(era: "era0")]) }
        #expect(found.map(\.path) == (count > 64 ? [["eras"]] : []))
        let message =
            "a policy has at most 64 eras, but this one has 65; join eras that entitlements treat alike"
        #expect(found.map(\.message) == (count > 64 ? [message] : []))
    }

    @Test func `a changeover window that doesn't contain the change is a mistake`() throws {
        let message =
            "the window doesn't include the change itself; write a negative `from` (`-24h`) and a positive `until` (`+48h`)"
        func paths(from: TimeInterval, until: TimeInterval) throws -> [[PolicyMistake.Step]] {
            let eras = [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free, begins: [.iOS: .at(version: nil, date: date("2015-06-10"))],
                    changeover: .window(from: from, until: until)),
            ]
            let found = try mistakes { try Calculator.policy(eras: eras) }
            #expect(found.allSatisfy { $0.message == message })
            return found.map(\.path)
        }
        #expect(try paths(from: 0, until: 0).isEmpty)
        #expect(try paths(from: 3600, until: 7200) == [["eras", 1, "changeover"]])
        #expect(try paths(from: -7200, until: -3600) == [["eras", 1, "changeover"]])
    }

    @Test(arguments: [["everything"], ["cloud"], ["everything", "cloud"], []])
    func `a dated era without a changeover is a mistake if any entitlement honors the era before it`(
        honoring: [String]
    ) throws {
        let found = try mistakes {
            try Policy(
                app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
                eras: [
                    Era(name: "paid", model: .paid),
                    Era(name: "freemium", model: .free, begins: [.iOS: .at(version: nil, date: date("2015-06-10"))]),
                ],
                entitlements: ["everything", "cloud"].map { name in
                    Entitlement(
                        name: name, products: [.init(id: "com.example.calculator.\(name)")],
                        honors: honoring.contains(name) ? [Honor(era: "paid")] : nil)
                })
        }
        #expect(found.map(\.code) == (honoring.isEmpty ? [] : ["no-changeover"]))
    }

    @Test func `an era that begins before the previous era is a mistake in the policy`() throws {
        func eras(_ first: Beginning, _ second: Beginning) -> [Era] {
            [
                Era(name: "paid", model: .paid),
                Era(name: "promo", model: .free, begins: [.iOS: first], changeover: .noWindow),
                Era(name: "freemium", model: .free, begins: [.iOS: second], changeover: .noWindow),
            ]
        }
        let dates = eras(.at(version: nil, date: date("2015-01-02")), .at(version: nil, date: date("2015-01-01")))
        let wrongDates = try mistakes { try Calculator.policy(eras: dates) }
        #expect(wrongDates.map(\.path) == [["eras", 2, "begins", "iOS", "at"]])
        #expect(
            wrongDates.map(\.message) == ["`freemium` begins before `promo` does; write the eras oldest first"])
        #expect(wrongDates.map(\.code) == ["eras-backwards"])
        // Eras may begin at the same instant.
        let same = eras(.at(version: nil, date: date("2015-01-02")), .at(version: nil, date: date("2015-01-02")))
        #expect(try mistakes { try Calculator.policy(eras: same) }.isEmpty)
        let builds = eras(.at(version: AppVersion("9"), date: nil), .at(version: AppVersion("8.9"), date: nil))
        let wrongBuilds = try mistakes { try Calculator.policy(eras: builds) }
        #expect(wrongBuilds.map(\.path) == [["eras", 2, "begins", "iOS", "build"]])
        let message =
            "`8.9` is lower than `9`, where `promo` begins; correct one of them, or set `buildNumbers: restarted`"
        #expect(wrongBuilds.map(\.message) == [message] && wrongBuilds.map(\.code) == ["eras-backwards"])
        #expect(try mistakes { try Calculator.policy(eras: builds, buildNumbers: .restarted) }.isEmpty)
    }

    @Test func `an era may begin with a lower build than the previous era if the policy lists the releases`() throws {
        let eras = [
            Era(name: "paid", model: .paid),
            Era(name: "promo", model: .free, begins: [.iOS: .at(version: AppVersion("9"), date: nil)]),
            Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion("8.9"), date: nil)]),
        ]
        let releases = [("9", "2015-01-01"), ("8.9", "2015-02-01")].map { build, day in
            Release(platform: .iOS, version: nil, build: AppVersion(build), releasedAt: .instant(date(day)))
        }
        #expect(try mistakes { try Calculator.policy(eras: eras, releases: releases) }.isEmpty)
    }
}
