import Foundation
import TenureMint
import Testing

@testable import TenureCore

struct ReleaseListOrderTests {
    private static let start = date("2015-06-01")
    /// The time of the change. It has an unusual hour, so that no release has the same instant by chance.
    private static let change = date("2015-06-04T03:00:00Z")

    /// Releases from the oldest on. The list has a day, an instant or no date for each release.
    private static func releases(_ random: inout SeededRandom) -> [Release] {
        let hours = (0..<Int.random(in: 2...4, using: &random)).map { _ in Int.random(in: 0..<18, using: &random) * 8 }
        let builds = ["119", "120", "121", "122"].shuffled(using: &random)
        return zip(hours.sorted(), builds).map { hour, build in
            let date = start.addingTimeInterval(Double(hour) * 3600)
            let moment: Release.Moment =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: .undated
                case 1: .instant(date)
                default: .day(CivilDay(of: date))
                }
            return Release(platform: .iOS, version: nil, build: AppVersion(build), releasedAt: moment)
        }
    }

    @Test(arguments: 1...150 as ClosedRange<UInt64>)
    func `a release belongs to every era in which it can have been on sale`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let releases = Self.releases(&random)
        let boundary = Beginning.at(version: AppVersion("120"), date: Self.change)
        let found = ReleaseList(releases, beginnings: [nil, boundary]).eras(among: EraSet(from: 0, to: 2)).byVersion
        var expected: [AppVersion: EraSet] = [:]
        let possible = PossibleSales(of: releases, change: Self.change)
        for (place, release) in releases.enumerated() {
            guard let version = release.originalAppVersion else { continue }
            expected[version] = (expected[version] ?? EraSet()).union(possible.eras[place])
        }
        // If the list contradicts the boundary, no time is possible.
        for (version, eras) in expected where !eras.isEmpty {
            #expect(
                found[version] == eras,
                "\(version): \(releases.map { "\($0.build?.description ?? "") \($0.releasedAt)" })")
        }
    }

    @Test func `a build that is listed twice has the eras of both rows, and an era begins at its build's first row`() {
        func release(_ build: String, _ date: String) -> Release {
            Release(
                platform: .iOS, version: nil, build: AppVersion(build),
                releasedAt: .day(CivilDay(date) ?? CivilDay(of: .distantPast)))
        }
        let third = Beginning.at(version: AppVersion("3"), date: nil)
        let list = ReleaseList(
            [
                release("3", "2014-03-01"), release("1", "2014-01-01"), release("2", "2014-02-01"),
                release("1", "2014-04-01"), release("3", "2014-05-01"),
            ], beginnings: [nil, third])
        let (byVersion, hasBoundary) = list.eras(among: EraSet(from: 0, to: 2))
        #expect(hasBoundary)
        func eras(_ build: String) -> [Int] {
            let found = AppVersion(build).flatMap { byVersion[$0] } ?? EraSet()
            return [0, 1].filter { found.contains($0) }
        }
        #expect(eras("1") == [0, 1])
        #expect(eras("2") == [0])
        #expect(eras("3") == [1])
        #expect(eras("4") == [])
    }

    @Test
    func `among undated releases, the order of the list puts releases of the day of the change before or after it`() {
        func release(_ build: String, day: Int?) -> Release {
            Release(
                platform: .iOS, version: nil, build: AppVersion(build),
                releasedAt: day.map { .day(CivilDay(year: 2015, month: 6, day: $0)) } ?? .undated)
        }
        let list = ReleaseList(
            [release("118", day: 1), release("119", day: 4), release("120", day: nil), release("121", day: 4)],
            beginnings: [nil, .at(version: AppVersion("120"), date: Self.change)])
        let found = list.eras(among: EraSet(from: 0, to: 2)).byVersion
        #expect(AppVersion("119").flatMap { found[$0] } == EraSet(from: 0, to: 1))
        #expect(AppVersion("121").flatMap { found[$0] } == EraSet(from: 1, to: 2))
    }

    @Test func `releases on the day of an undated boundary are before or after it by the order of the release list`() {
        let list = ReleaseList(
            ["119", "120", "121"].map {
                Release(
                    platform: .iOS, version: nil, build: AppVersion($0),
                    releasedAt: .day(CivilDay(year: 2015, month: 6, day: 10)))
            }, beginnings: [nil, .at(version: AppVersion("120"), date: nil)])
        let found = list.eras(among: EraSet(from: 0, to: 2)).byVersion
        #expect(AppVersion("119").flatMap { found[$0] } == EraSet(from: 0, to: 1))
        #expect(AppVersion("120").flatMap { found[$0] } == EraSet(from: 1, to: 2))
        #expect(AppVersion("121").flatMap { found[$0] } == EraSet(from: 1, to: 2))
    }
}

/// The eras of each release, by trying every order and time that a list of releases allows.
private struct PossibleSales {
    private(set) var eras: [EraSet]
    private let releases: [Release]
    private let change: Date
    private let candidates: [[Date]]
    private let isSorted: Bool

    init(of releases: [Release], change: Date) {
        self.releases = releases
        isSorted = releases.contains { $0.releasedAt == .undated }
        self.change = change
        eras = releases.map { _ in EraSet() }
        candidates = releases.map { release in
            let isBoundary = release.build == AppVersion("120")
            switch release.releasedAt {
            case .instant(let date): return [date]
            case .day(let day):
                if isBoundary, day.firstBeginning <= change, change < day.lastEnd { return [change] }
                return stride(from: 0.0, to: 50, by: 8).map { day.firstBeginning.addingTimeInterval($0 * 3600) }
                    + [day.lastEnd.addingTimeInterval(-1)]
            case .undated: return isBoundary ? [change] : []
            }
        }
        tryAll([])
    }

    private mutating func tryAll(_ begun: [Date?]) {
        guard begun.count < releases.count else { return note(begun) }
        let place = begun.count
        guard !candidates[place].isEmpty else { return tryAll(begun + [nil]) }
        for date in candidates[place] {
            let isInOrder = begun.indices.allSatisfy { earlier in
                // A list with undated releases has the oldest release first.
                if isSorted { return begun[earlier].map { $0 <= date } ?? true }
                guard case .day(let mine) = releases[place].releasedAt,
                    case .day(let other) = releases[earlier].releasedAt, let before = begun[earlier]
                else { return true }
                return other <= mine ? before < date : date < before
            }
            if isInOrder { tryAll(begun + [date]) }
        }
    }

    private mutating func note(_ begun: [Date?]) {
        let dated = begun.enumerated().compactMap { place, date in date.map { (date: $0, place: place) } }
        for place in begun.indices {
            let start: Date
            let end: Date
            if let date = begun[place] {
                start = date
                end = dated.filter { ($0.date, $0.place) > (date, place) }.map(\.date).min() ?? .distantFuture
            } else {
                start = dated.last { $0.place < place }?.date ?? .distantPast
                end = dated.first { $0.place > place }?.date ?? .distantFuture
            }
            guard start <= end else { continue }
            if start < change { eras[place].insert(0) }
            if start >= change || end > change { eras[place].insert(1) }
        }
    }
}
