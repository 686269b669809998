import Foundation
import TenureMint
import Testing

@testable import TenureCore

struct ReleaseListOrderTests {
    /// Releases some hours apart, of which the list tells the day or the instant, some twice.
    private static func releases(_ count: Int, _ random: inout SeededRandom) -> [Release] {
        (0..<count).map { number in
            let date = Date(
                timeIntervalSince1970: 1_400_000_000 + Double(Int.random(in: 0..<count * 8, using: &random)) * 3600)
            return Release(
                platform: .iOS, version: nil, build: AppVersion(String(number / 2)),
                releasedAt: Bool.random(using: &random) ? .instant(date) : .day(CivilDay(of: date)))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a sale ends with the first release that certainly came later, by instant and by day, as a search finds it`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        let releases = Self.releases(60, &random)
        let list = ReleaseList(releases)
        let sorted = releases.sorted { $0.releasedAt.earliest < $1.releasedAt.earliest }
        for release in releases {
            let later = sorted.map(\.releasedAt).filter { release.releasedAt.isCertainlyEarlier(than: $0) }
            func isDay(_ moment: Release.Moment) -> Bool { if case .day = moment { true } else { false } }
            let expected = [later.first { !isDay($0) }, later.first(where: isDay)].compactMap(\.self)
            #expect(list.ends(ofSaleFrom: release.releasedAt) == expected)
        }
    }

    @Test func `of two builds with one number both times of sale count, and a boundary is where it was listed first`() {
        func day(_ text: String) -> Release.Moment { .day(CivilDay(text) ?? CivilDay(of: .distantPast)) }
        func release(_ build: String, _ date: String) -> Release {
            Release(platform: .iOS, version: nil, build: AppVersion(build), releasedAt: day(date))
        }
        let list = ReleaseList([
            release("3", "2014-03-01"), release("1", "2014-01-01"), release("2", "2014-02-01"),
            release("1", "2014-04-01"), release("3", "2014-05-01"),
        ])
        let third = Beginning.at(version: AppVersion("3"), date: nil)
        let (byVersion, meetBoundary) = list.eras(firstEra: 0, beginnings: [nil, third])
        #expect(meetBoundary)
        func eras(_ build: String) -> [Int] {
            let found = AppVersion(build).flatMap { byVersion[$0] } ?? EraSet()
            return [0, 1].filter { found.contains($0) }
        }
        #expect(eras("1") == [0, 1])
        #expect(eras("2") == [0])
        #expect(eras("3") == [1])
        #expect(eras("4") == [])
    }
}
