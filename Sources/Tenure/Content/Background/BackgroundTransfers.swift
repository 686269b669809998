import Foundation
import TenureContent
import TenureCore
import TenureFiles

/// Lets the system download ranges of asset packs while the app is in the background, and tracks these downloads.
final class BackgroundTransfers: Sendable {
    private struct State: Sendable {
        /// Downloads that haven't ended, with the number of bytes that each had when last checked.
        var unfinishedDownloads: [RangeLabel: Int64] = [:]
        var isConnected = false
        /// Whether the system has reported all downloads that ended while the app wasn't running.
        var isDelivered = false
        /// Packs with a download that has ended, but that `takeEnded()` hasn't returned yet.
        var endedPacks: Set<String> = []
        /// Packs with a link that a server has rejected and that wasn't replaced yet.
        var packsWithRefusedLink: Set<String> = []
        /// Downloads of which the system has reported the end, and that weren't requested again. The system may list
        /// them as unfinished a moment longer.
        var endedDownloads: Set<RangeLabel> = []
        /// Tells the content library that a download has ended.
        var notify: (@Sendable () -> Void)?
    }

    private let downloads: any BackgroundDownloads
    private let store: PackStore
    private let servers: RangeServers
    /// Seconds without a byte after which a background download is canceled, so that the app fetches the range itself.
    private let stallTimeout: Double
    private let state = Locked(State())

    init(_ downloads: any BackgroundDownloads, store: PackStore, servers: RangeServers, stallTimeout: Double) {
        self.downloads = downloads
        self.store = store
        self.servers = servers
        self.stallTimeout = stallTimeout
    }

    // MARK: Stored ranges

    /// The ranges that the system downloads, stored for other processes and for the next start of the app.
    private struct Record: Codable { let ranges: [RangeLabel] }

    private static func path(in store: PackStore) -> String { store.location.durableFolder.path + "/background.json" }

    /// Returns the packs of which the system downloads ranges, as an earlier process or another process stored them.
    static func packs(in store: PackStore) -> Set<String> {
        let record = Disk.decoded(Record.self, at: path(in: store), maximumSize: 1 << 20)
        return Set(record?.ranges.map(\.pack) ?? [])
    }

    /// Stores which ranges the system downloads.
    private func storeRanges() {
        let labels = state.withLock { Array($0.unfinishedDownloads.keys) }
        let ranges = labels.sorted { ($0.pack, $0.lower) < ($1.pack, $1.lower) }
        let path = Self.path(in: store)
        guard !ranges.isEmpty else { return Disk.remove(path) }
        try? ContentLocation.make(store.location.durableFolder)
        if let data = try? JSONEncoder().encode(Record(ranges: ranges)) {
            try? Disk.replace(path, with: data, isLasting: false)
        }
    }

    // MARK: Connecting

    /// Connects this process to the system's downloads, once, and reads which downloads haven't ended.
    ///
    /// - Parameter ended: called after each download that ends.
    func connect(_ ended: @escaping @Sendable () -> Void) async {
        let isFirst = state.withLock { state in
            defer { state.isConnected = true }
            state.notify = ended
            return !state.isConnected
        }
        if isFirst {
            downloads.connect(
                ended: { [weak self] in self?.handleEnd($0) },
                delivered: { [weak self] in self?.state.withLock { $0.isDelivered = true } })
        }
        await refreshUnfinishedDownloads()
    }

    /// Waits at most 10 seconds until the system has reported all downloads that ended while the app wasn't running.
    func waitForDelivery() async {
        for _ in 0..<200 where !state.withLock({ $0.isDelivered }) {
            guard (try? await Task.sleep(nanoseconds: 50_000_000)) != nil else { return }
        }
    }

    /// Returns the downloads that the system lists as unfinished, with the number of bytes that each has.
    private func listedDownloads() async -> [RangeLabel: Int64] {
        Dictionary(
            await downloads.downloads().compactMap { status in RangeLabel(status.label).map { ($0, status.received) } }
        ) { first, _ in first }
    }

    /// Asks the system which downloads haven't ended, and stores their ranges.
    private func refreshUnfinishedDownloads() async {
        let listed = await listedDownloads()
        state.withLock { state in state.unfinishedDownloads = listed.filter { !state.endedDownloads.contains($0.key) } }
        for label in listed.keys { servers.noteBackgroundDownload(from: label.origin, status: nil) }
        storeRanges()
    }

    /// Handles the end of a download: moves the file into the pack's folder, and records that the download has ended.
    /// The system deletes the file when this method returns.
    private func handleEnd(_ result: BackgroundResult) {
        guard let label = RangeLabel(result.label), ContentCatalog.isName(label.pack) else { return }
        if let file = result.file, result.status == 206,
            result.contentRange == HTTPContent.contentRange(label.range, of: label.size),
            FileStatus(path: file.path)?.size == Int64(label.range.count)
        {
            moveIntoPack(file, label)
        }
        servers.noteBackgroundDownload(from: label.origin, status: result.status)
        let notify = state.withLock { state in
            state.unfinishedDownloads[label] = nil
            state.endedDownloads.insert(label)
            state.endedPacks.insert(label.pack)
            if [401, 403].contains(result.status) { state.packsWithRefusedLink.insert(label.pack) }
            return state.notify
        }
        storeRanges()
        notify?()
    }

    /// Returns the packs of which a download has ended since the last call.
    func takeEnded() -> Set<String> {
        state.withLock { state in
            defer { state.endedPacks = [] }
            return state.endedPacks
        }
    }

    /// Returns whether a server has rejected the link of a pack since the last call.
    func takeRefusal(of pack: String) -> Bool { state.withLock { $0.packsWithRefusedLink.remove(pack) != nil } }

    /// Moves a downloaded range into the folder of its partial pack.
    private func moveIntoPack(_ file: URL, _ label: RangeLabel) {
        let folder = store.folder(of: label.pack)
        // If the download of this version was canceled or replaced, its bytes aren't needed.
        guard PartialPack.plan(in: folder)?.description.manifest == label.version else { return }
        let partial = folder + "/" + PartialPack.folderName
        let path = ArrivedRange.path(of: label.range, in: partial)
        do {
            try ContentLocation.make(URL(fileURLWithPath: ArrivedRange.folder(in: partial), isDirectory: true))
            Disk.remove(path)
            // If the system's folder is on another volume, this copies the file.
            try FileManager.default.moveItem(atPath: file.path, toPath: path)
        } catch {
            Disk.remove(path)
        }
    }

    // MARK: What the system downloads

    /// Returns the ranges of a version that the system is still downloading.
    func ranges(of pack: String, _ version: ContentCatalog.Version) -> [Range<Int64>] {
        let manifest = version.manifest.description
        return state.withLock { state in
            state.unfinishedDownloads.keys.filter { $0.pack == pack && $0.version == manifest }.map(\.range)
        }
    }

    /// The packs of which the system is downloading ranges.
    var packs: Set<String> { state.withLock { Set($0.unfinishedDownloads.keys.map(\.pack)) } }
    /// The number of downloads that haven't ended, for all packs together.
    var count: Int { state.withLock { $0.unfinishedDownloads.count } }

    /// Stores the ranges of these downloads, and starts them.
    func start(_ orders: [BackgroundOrder]) async {
        state.withLock { state in
            for label in orders.compactMap({ RangeLabel($0.label) }) {
                state.unfinishedDownloads[label] = 0
                state.endedDownloads.remove(label)
            }
        }
        // Store the ranges before the downloads start, so that no other process fetches them, too.
        storeRanges()
        await downloads.start(orders)
    }

    /// Runs `body`, and asks the system not to suspend the app meanwhile.
    func keepRunning(_ body: @escaping @Sendable () async -> Void) async { await downloads.keepRunning(body) }

    /// Cancels all background downloads of a pack.
    func cancel(_ pack: String) async { await cancel { label, _ in label.pack == pack } }

    /// Cancels the background downloads that have no bytes yet. The other downloads continue in the background.
    func returnToForeground() async {
        await refreshUnfinishedDownloads()
        await cancel { _, bytes in bytes == 0 }
    }

    /// Cancels the background downloads for which `shouldCancel` returns true. It gets each download's label, and the
    /// number of bytes that the download had when it was last checked.
    private func cancel(_ shouldCancel: (RangeLabel, Int64) -> Bool) async {
        let labels = state.withLock { $0.unfinishedDownloads }.filter { shouldCancel($0.key, $0.value) }.map(\.key)
        guard !labels.isEmpty else { return }
        await downloads.cancel(Set(labels.map(\.text)))
        state.withLock { state in for label in labels { state.unfinishedDownloads[label] = nil } }
        storeRanges()
    }

    /// Waits until a background download of the version has ended. Cancels each download that gets no bytes for
    /// `stallTimeout`.
    func waitForChange(of pack: String, _ version: ContentCatalog.Version) async throws {
        let manifest = version.manifest.description
        func isOurs(_ label: RangeLabel) -> Bool { label.pack == pack && label.version == manifest }
        let unfinishedAtStart = state.withLock { Set($0.unfinishedDownloads.keys.filter(isOurs)) }
        var received: [RangeLabel: (bytes: Int64, since: SuspendingClock.Instant)] = [:]
        while true {
            let unfinished = state.withLock { Set($0.unfinishedDownloads.keys.filter(isOurs)) }
            guard unfinished == unfinishedAtStart, !unfinished.isEmpty else { return }
            let listed = await listedDownloads()
            for (label, bytes) in listed where isOurs(label) && received[label]?.bytes != bytes {
                received[label] = (bytes, .now)
            }
            let unlisted = unfinished.subtracting(listed.keys)
            let stalled = unfinished.filter { label in
                received[label].map { SuspendingClock.now - $0.since > .seconds(stallTimeout) } ?? false
            }
            // The system removes a download from its list slightly before it reports the end. So a download that isn't
            // in the list is treated as stalled only after the timeout.
            for label in unlisted where received[label] == nil { received[label] = (-1, .now) }
            if !stalled.isEmpty {
                await cancel { label, _ in stalled.contains(label) }
                return
            }
            try await Task.sleep(nanoseconds: 200_000_000)
        }
    }
}
