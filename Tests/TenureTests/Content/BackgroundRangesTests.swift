import CommandRunner
import Foundation
import Testing

@testable import Tenure

@Suite struct `ranges handed over to the system` {
    private static let mebibyte: Int64 = 1 << 20

    private func covers(_ ranges: [Range<Int64>], _ missing: [Range<Int64>]) -> Bool {
        missing.allSatisfy { $0.subtracting(ranges).isEmpty }
    }

    @Test func `downloads handed over to the system are divided into ranges of 32 MiB`() {
        let ranges = BackgroundRanges.ranges(for: [[0..<100 * Self.mebibyte]], limit: 64)
        #expect(ranges[0].map(\.count) == [32, 32, 32, 4].map { $0 * Int(Self.mebibyte) })
        #expect(ranges[0].first?.lowerBound == 0)
    }

    @Test func `the system gets at most 64 background downloads, of larger ranges if needed`() {
        let missing = [[0..<60_000 * Self.mebibyte], [5..<4000 * Self.mebibyte]]
        let ranges = BackgroundRanges.ranges(for: missing, limit: 64)
        #expect(ranges.joined().count <= 64)
        for (missing, ranges) in zip(missing, ranges) { #expect(covers(ranges, missing)) }
        #expect(BackgroundRanges.ranges(for: missing, limit: 3).joined().count <= 3)
        #expect(BackgroundRanges.ranges(for: missing, limit: 0) == [[], []])
    }

    @Test func `ranges for the system join close parts, and leave out the last parts if too many are distant`() {
        let near = (0..<1000).map { Int64($0) * 20_000..<Int64($0) * 20_000 + 10_000 }
        let ranges = BackgroundRanges.ranges(for: [near], limit: 64)
        #expect(ranges[0] == [0..<19_990_000])
        let far = (0..<200).map { Int64($0) * 10_000_000..<Int64($0) * 10_000_000 + 10_000 }
        let some = BackgroundRanges.ranges(for: [far], limit: 64)
        #expect(some[0].count == 64)
        #expect(covers(some[0], Array(far.prefix(64))))
    }

    @Test func `a background download has a label that a later process can read`() {
        let label = RangeLabel(pack: "piano", version: "abc", range: 5..<90, size: 100, origin: "https://a.example:0")
        #expect(RangeLabel(label.text) == label)
        for text in ["", "{}", label.text.replacingOccurrences(of: "90", with: "101"), "download-7"] {
            #expect(RangeLabel(text) == nil, "\(text)")
        }
        #expect(RangeLabel(label.text.replacingOccurrences(of: "5", with: "-5")) == nil)
    }

    @Test func `a server that answered a background download with the whole file counts as serving no ranges`()
        async throws
    {
        let folder = try Folder()
        let url = try #require(URL(string: "https://content.example.com/piano"))
        for (status, servesRanges) in [(200, false), (206, true)] {
            let servers = RangeServers()
            servers.noteRange(from: url)
            let label = RangeLabel(
                pack: "piano", version: "1", range: 0..<10, size: 100, origin: RangeServers.origin(of: url))
            let transfers = BackgroundTransfers(
                EndedDownloads(results: [BackgroundResult(label: label.text, status: status)]),
                store: PackStore(location: ContentLocation(in: folder.url("device"))), servers: servers,
                stallTimeout: 30)
            await transfers.connect {}
            #expect(transfers.takeEnded() == ["piano"])
            #expect(servers.servesRanges(url) == servesRanges)
        }
    }
}

/// Downloads that have ended before the app connects.
private struct EndedDownloads: BackgroundDownloads {
    let results: [BackgroundResult]

    func connect(ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void) {
        for result in results { ended(result) }
        delivered()
    }

    func downloads() -> [BackgroundStatus] { [] }

    func start(_ orders: [BackgroundOrder]) {}

    func cancel(_ labels: Set<String>) {}
}
