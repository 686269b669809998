import Foundation
import Testing

@testable import TenureCore

@Suite struct TimelineTests {
    /// A policy for iOS: paid, then free since build 120, then freemium since this build and day.
    private func policyWithSale(freemiumFrom build: String, since day: String) throws -> Policy {
        try Calculator.policy(eras: [
            Era(name: "paid", model: .paid),
            Era(
                name: "sale", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: date("2015-06-10"))],
                changeover: .noWindow),
            Era(
                name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion(build), date: date(day))]),
        ])
    }

    @Test func `a version can't separate eras that begin with the same version`() throws {
        let policy = try policyWithSale(freemiumFrom: "120", since: "2015-07-10")
        let timeline = policy.timelines.possible(for: .iOS)[0]
        #expect(timeline.eras(enclosing: try #require(AppVersion("119"))) == EraSet(from: 0, to: 1))
        #expect(timeline.eras(enclosing: try #require(AppVersion("120"))) == EraSet(from: 1, to: 3))
    }

    @Test func `a version can't separate two eras if the boundary between them has only a date`() throws {
        let policy = try Calculator.policy(eras: [
            Era(name: "paid", model: .paid),
            Era(
                name: "promo", model: .free, begins: [.iOS: .at(version: nil, date: date("2013-12-24"))],
                changeover: .noWindow),
            Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: nil)]),
        ])
        let timeline = policy.timelines.possible(for: .iOS)[0]
        #expect(timeline.eras(enclosing: try #require(AppVersion("20"))) == EraSet(from: 0, to: 2))
        #expect(timeline.eras(enclosing: try #require(AppVersion("120"))) == EraSet(from: 2, to: 3))
        #expect(timeline.eras(at: date("2013-12-01")) == EraSet(from: 0, to: 1))
        #expect(timeline.eras(at: date("2015-12-01")) == EraSet(from: 1, to: 3))
    }

    @Test func `purchase dates have two seconds of tolerance at a boundary`() throws {
        let timeline = try Calculator.policy().timelines.possible(for: .iOS)[0]
        #expect(timeline.eras(at: Calculator.iOSChange.addingTimeInterval(-2)) == EraSet(from: 0, to: 2))
        #expect(timeline.eras(at: Calculator.iOSChange.addingTimeInterval(-3)) == EraSet(from: 0, to: 1))
        #expect(timeline.eras(at: Calculator.iOSChange.addingTimeInterval(1)) == EraSet(from: 0, to: 2))
        #expect(timeline.eras(at: Calculator.iOSChange.addingTimeInterval(2)) == EraSet(from: 0, to: 2))
        #expect(timeline.eras(at: Calculator.iOSChange.addingTimeInterval(3)) == EraSet(from: 1, to: 2))
    }

    @Test func `if iOS changed before the tvOS store opened, every tvOS customer got the app after the change`() throws
    {
        func policy(_ freemium: [Platform: Beginning]) throws -> Policy {
            try Calculator.policy(eras: [
                Era(name: "free", model: .free),
                Era(
                    name: "paid", model: .paid,
                    begins: [
                        .iOS: .at(version: AppVersion("11"), date: date("2014-07-01")),
                        .tvOS: .at(version: AppVersion("11"), date: nil),
                    ], changeover: .noWindow),
                Era(name: "freemium", model: .free, begins: freemium, changeover: .noWindow),
            ])
        }
        let change = Beginning.at(version: AppVersion("111"), date: date("2015-07-04"))
        let timeline = try policy([.iOS: change]).timelines.possible(for: .tvOS)[0]
        #expect(timeline.eras == EraSet(from: 2, to: 3))
        #expect(throws: InvalidPolicy.self) { try policy([.iOS: change, .tvOS: .new]) }
        #expect(throws: InvalidPolicy.self) { try policy([.iOS: .new]) }
    }

    @Test func `of several changes on iOS before the visionOS store opened, the last one's era is the first there`()
        throws
    {
        let policy = try policyWithSale(freemiumFrom: "130", since: "2016-06-10")
        #expect(policy.timelines.possible(for: .visionOS)[0].eras == EraSet(from: 2, to: 3))
    }

    @Test func `policies that differ only in their release lists aren't equal`() throws {
        let list = try Calculator.policy(releases: [
            Release(platform: .iOS, version: AppVersion("120"), build: AppVersion("120"), releasedAt: .undated)
        ])
        #expect(try list != Calculator.policy())
    }

    @Test func `tvOS and visionOS have the boundaries of iOS unless the policy gives them other boundaries`() throws {
        let policy = try Calculator.policy(eras: [
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [
                    .iOS: .at(version: AppVersion("120"), date: nil),
                    .visionOS: .at(version: AppVersion("5"), date: nil),
                ]),
        ])
        let version = try #require(AppVersion("90"))
        #expect(policy.timelines.possible(for: .tvOS)[0].eras(enclosing: version) == EraSet(from: 0, to: 1))
        #expect(policy.timelines.possible(for: .visionOS)[0].eras(enclosing: version) == EraSet(from: 1, to: 2))
        #expect(policy.timelines.possible(for: .macOS)[0].platform == nil)
        #expect(policy.timelines.known.compactMap(\.platform) == [.iOS, .visionOS])
    }

    @Test func `earlier eras are impossible on a platform that is new in an era`() throws {
        let policy = try Calculator.policy(eras: [
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [.iOS: .at(version: AppVersion("120"), date: nil), .macOS: .new]),
        ])
        #expect(policy.timelines.possible(for: .macOS)[0].eras == EraSet(from: 1, to: 2))
    }
}

@Suite struct ReleaseListTests {
    private func eras(of build: String, releases: [(String, Release.Moment)], boundary: Beginning) throws -> EraSet? {
        let policy = try Calculator.policy(
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "freemium", model: .free, begins: [.iOS: boundary], changeover: .noWindow),
            ],
            buildNumbers: nil,
            releases: releases.map {
                Release(platform: .iOS, version: nil, build: AppVersion($0.0), releasedAt: $0.1)
            })
        return policy.timelines.possible(for: .iOS)[0].erasOfRelease?[try #require(AppVersion(build))]
    }

    private func day(_ text: String) throws -> Release.Moment { .day(try #require(CivilDay(text))) }

    private let change = Beginning.at(version: AppVersion("120"), date: Calculator.iOSChange)

    @Test func `a release belongs to the eras in which it was on sale`() throws {
        let list = [
            ("37", Release.Moment.instant(date("2014-01-01"))), ("110", .instant(date("2015-05-01"))),
            ("121", .instant(date("2015-07-20"))),
        ]
        #expect(try eras(of: "37", releases: list, boundary: change) == EraSet(from: 0, to: 1))
        #expect(try eras(of: "110.0", releases: list, boundary: change) == EraSet(from: 0, to: 2))
        #expect(try eras(of: "121", releases: list, boundary: change) == EraSet(from: 1, to: 2))
        #expect(try eras(of: "38", releases: list, boundary: change) == nil)
    }

    @Test func `a release that is listed twice has the eras of both rows`() throws {
        let list = [
            ("37", try day("2014-01-01")), ("38", try day("2014-02-01")), ("37", try day("2016-01-01")),
        ]
        #expect(try eras(of: "37", releases: list, boundary: change) == EraSet(from: 0, to: 2))
    }

    @Test func `a release at the exact instant of the change belongs only to the new era`() throws {
        let list = [("119", Release.Moment.instant(date("2015-05-01"))), ("120", .instant(Calculator.iOSChange))]
        #expect(try eras(of: "119", releases: list, boundary: change) == EraSet(from: 0, to: 1))
        #expect(try eras(of: "120", releases: list, boundary: change) == EraSet(from: 1, to: 2))
    }

    @Test func `a release listed with a day can have been at any instant of this day in any time zone`() throws {
        let list = [("119", try day("2015-05-01")), ("121", try day("2015-06-10")), ("122", try day("2015-06-12"))]
        #expect(try eras(of: "119", releases: list, boundary: change) == EraSet(from: 0, to: 2))
        #expect(try eras(of: "121", releases: list, boundary: change) == EraSet(from: 0, to: 2))
        #expect(try eras(of: "122", releases: list, boundary: change) == EraSet(from: 1, to: 2))
    }

    @Test func `releases are in the order of their days, and an undated boundary has the day of its version's release`()
        throws
    {
        let list = [("119", try day("2015-05-01")), ("120", try day("2015-06-10")), ("121", try day("2015-06-12"))]
        let undated = Beginning.at(version: AppVersion("120"), date: nil)
        #expect(try eras(of: "119", releases: list, boundary: undated) == EraSet(from: 0, to: 1))
        #expect(try eras(of: "120", releases: list, boundary: undated) == EraSet(from: 1, to: 2))
    }

    @Test func `a boundary at a version that isn't in the release list can't separate eras`() throws {
        let list = [("119", try day("2015-05-01")), ("121", try day("2015-06-12"))]
        let undated = Beginning.at(version: AppVersion("120"), date: nil)
        #expect(try eras(of: "119", releases: list, boundary: undated) == EraSet(from: 0, to: 2))
    }
}
