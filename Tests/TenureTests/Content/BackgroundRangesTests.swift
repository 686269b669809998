import CommandRunner
import Foundation
import TenureContent
import TenureCore
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
        #expect(RangeLabel(label.text.replacingOccurrences(of: "90", with: "5")) == nil, "an empty range")
        let whole = RangeLabel(pack: "piano", version: "abc", range: 0..<100, size: 100, origin: "https://a.example:0")
        #expect(RangeLabel(whole.text) == whole && whole.range == 0..<100)
        // An earlier release may have started the download.
        let stored = #"{"lower":5,"origin":"https://a.example:0","pack":"piano","size":100,"upper":90,"version":"abc"}"#
        #expect(RangeLabel(stored) == label)
    }

    @Test func `ranges for the system are joined with less than 1 MiB between them if there are too many`() {
        #expect(BackgroundRanges.maximumDownloads == 64)
        let end = 10 + Self.mebibyte
        #expect(BackgroundRanges.ranges(for: [[0..<10, end - 1..<end]], limit: 1) == [[0..<end]])
        #expect(BackgroundRanges.ranges(for: [[0..<10, end..<end + 1]], limit: 1) == [[0..<10]])
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

    @Test(arguments: [(401, true), (403, true), (404, false), (416, false), (nil, false)] as [(Int?, Bool)])
    func `a background download with a refused link is noted once, so that it gets a new link`(
        status: Int?, isRefused: Bool
    ) async throws {
        let folder = try Folder()
        let label = RangeLabel(pack: "piano", version: "1", range: 0..<10, size: 100, origin: "https://a.example:0")
        let transfers = BackgroundTransfers(
            EndedDownloads(results: [BackgroundResult(label: label.text, status: status)]),
            store: PackStore(location: ContentLocation(in: folder.url("device"))), servers: RangeServers(),
            stallTimeout: 30)
        await transfers.connect {}
        #expect(!transfers.takeRefusal(of: "violin"))
        #expect(transfers.takeRefusal(of: "piano") == isRefused)
        #expect(!transfers.takeRefusal(of: "piano"))
        #expect(transfers.takeEnded() == ["piano"])
        #expect(transfers.takeEnded() == [])
    }

    @Test func `a server of which only background downloads are known serves ranges until it sends a whole file`()
        throws
    {
        let servers = RangeServers()
        let url = try #require(URL(string: "https://content.example.com:8443/piano"))
        let other = try #require(URL(string: "https://content.example.com/piano"))
        let origin = "https://content.example.com:8443"
        #expect(!servers.servesRanges(url))
        servers.noteBackgroundDownload(from: origin, status: nil)
        #expect(servers.servesRanges(url) && !servers.servesRanges(other))
        servers.noteBackgroundDownload(from: origin, status: 200)
        #expect(!servers.servesRanges(url))
        servers.noteBackgroundDownload(from: origin, status: 206)
        #expect(!servers.servesRanges(url), "an earlier request got this range")
        servers.noteRange(from: url)
        #expect(servers.servesRanges(url))
    }

    // MARK: Several downloads

    private func order(_ label: RangeLabel) throws -> BackgroundOrder {
        BackgroundOrder(
            url: try #require(URL(string: "https://a.example/piano")), headers: [:], label: label.text,
            expectedSize: Int64(label.range.count), allowsExpensiveNetwork: true, allowsConstrainedNetwork: true)
    }

    @Test func `background downloads of one pack are canceled without those of another pack, and are stored`()
        async throws
    {
        let folder = try Folder()
        let store = PackStore(location: ContentLocation(in: folder.url("device")))
        let system = ListedDownloads()
        let transfers = BackgroundTransfers(system, store: store, servers: RangeServers(), stallTimeout: 30)
        let version = ContentCatalog.Version(
            minimumAppVersion: nil, manifest: ContentDigest(of: Data("m".utf8)), manifestSize: 1,
            archive: ContentDigest(of: Data("a".utf8)), archiveSize: 100, installedSize: 90)
        func label(_ pack: String, _ version: String, _ range: Range<Int64>) -> RangeLabel {
            RangeLabel(pack: pack, version: version, range: range, size: 100, origin: "https://a.example:0")
        }
        let current = version.manifest.description
        let labels = [
            label("piano", current, 0..<10), label("piano", "old", 10..<20), label("violin", current, 20..<30),
        ]
        try await transfers.start(labels.map { try order($0) })
        #expect(transfers.count == 3 && transfers.packs == ["piano", "violin"])
        #expect(transfers.ranges(of: "piano", version) == [0..<10])
        #expect(BackgroundTransfers.packs(in: store) == ["piano", "violin"])
        await transfers.cancel("piano")
        #expect(system.canceled == [labels[0].text, labels[1].text])
        #expect(transfers.packs == ["violin"] && BackgroundTransfers.packs(in: store) == ["violin"])
        await transfers.cancel("violin")
        #expect(transfers.count == 0)
        #expect(Disk.names(in: folder.path + "/device/content") == [])
    }

    @Test func `in the foreground, only background downloads without a byte are canceled`() async throws {
        let folder = try Folder()
        let store = PackStore(location: ContentLocation(in: folder.url("device")))
        let system = ListedDownloads()
        let transfers = BackgroundTransfers(system, store: store, servers: RangeServers(), stallTimeout: 30)
        let labels = [Int64(0), 10, 20].map {
            RangeLabel(pack: "piano", version: "1", range: $0..<$0 + 10, size: 100, origin: "https://a.example:0")
        }
        try await transfers.start(labels.map { try order($0) })
        system.receive(1, of: labels[1].text)
        await transfers.returnToForeground()
        #expect(system.canceled == [labels[0].text, labels[2].text])
        #expect(transfers.count == 1 && transfers.packs == ["piano"])
    }
}

/// Downloads that get only the bytes that a test gives them.
private final class ListedDownloads: BackgroundDownloads {
    private let received = Locked<[String: Int64]>([:])
    private let ended = Locked<Set<String>>([])

    var canceled: Set<String> { ended.withLock { $0 } }

    func receive(_ bytes: Int64, of label: String) { received.withLock { $0[label] = bytes } }

    func connect(ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void) {}

    func downloads() -> [BackgroundStatus] {
        received.withLock { $0.map { BackgroundStatus(label: $0.key, received: $0.value) } }
    }

    func start(_ orders: [BackgroundOrder]) { for order in orders { receive(0, of: order.label) } }

    func cancel(_ labels: Set<String>) {
        ended.withLock { $0.formUnion(labels) }
        received.withLock { received in for label in labels { received[label] = nil } }
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
