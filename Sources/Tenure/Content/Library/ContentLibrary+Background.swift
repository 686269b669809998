import Foundation
import TenureContent

/// When the app leaves the foreground, the system continues the downloads. When the app returns, the app continues the
/// downloads itself.
extension ContentLibrary {
    /// Follows the app between foreground and background, until its task is canceled.
    func followDevice() async {
        guard let background else { return }
        await connect(background)
        let waiting = Task { await self.assumeForeground() }
        defer { waiting.cancel() }
        for await event in setup.events() {
            switch event {
            case .appBecameActive: await enterForeground()
            case .appEnteredBackground: await background.keepRunning { await self.enterBackground() }
            case .networkReturned, .keychainUnlocked: break
            }
        }
        await waiting.value
    }

    private func connect(_ background: BackgroundTransfers) async {
        await background.connect { [weak self] in Task { await self?.schedule() } }
    }

    /// Records for which packs a download by the system has ended since the last call.
    func takeDelivered() {
        for name in background?.takeEnded() ?? [] {
            delivered.insert(name)
            hasDelivery = true
            if runningDownload?.pack != name { reload(name) }
        }
    }

    /// Enters the foreground, unless the system reports background downloads first. If the system started the app to
    /// report background downloads, it reports them immediately.
    private func assumeForeground() async {
        let wait = UInt64(setup.foregroundWait * 1e9)
        guard !isInForeground, (try? await Task.sleep(nanoseconds: wait)) != nil else { return }
        if !isHandlingEvents { await enterForeground() }
    }

    /// Continues the downloads in this process.
    private func enterForeground() async {
        guard !isInForeground else { return }
        isInForeground = true
        isHandlingEvents = false
        await background?.returnToForeground()
        for name in background?.packs ?? [] { reload(name) }
        schedule()
    }

    // MARK: Entering the background

    /// Lets the system continue the downloads. Does nothing if the first download's server can't be used for background
    /// downloads.
    private func enterBackground() async {
        guard let background, isInForeground else { return }
        // The system downloads only from servers that have answered a request for a range with that range (see
        // `RangeServers`). If the first download's server hasn't, the app itself continues the downloads until the
        // system suspends the app.
        let ready = requests.filter { isWanted($0) && (isReady($0) || waits[$0.pack] == .network) }
        guard let first = ready.first, await provenLink(of: first) != nil else { return }
        isInForeground = false
        if let runningDownload {
            runningDownload.task.cancel()
            await runningDownload.task.value
        }
        await handOver(ready, to: background)
        schedule()
    }

    /// Returns the link of a pack's archive (one file with all files of the pack), and the source that made the link.
    /// Nil if there is no link, or if its server hasn't answered a request for a range with that range yet.
    ///
    /// - Parameter wasRefused: whether the server has rejected the last link.
    private func provenLink(
        of request: PackRequest, wasRefused: Bool = false
    ) async -> (url: URL, source: any LinkedContentSource)? {
        guard let (pack, version) = target(of: request.pack),
            let source = catalogs.source(of: pack.name, begunWith: plans[pack.name]?.description.source)
                as? any LinkedContentSource
        else { return nil }
        var wanted = Tenure.ContentRequest(
            pack: pack.name, digest: version.archive.description, size: version.archiveSize,
            range: 0..<version.archiveSize, timeout: setup.stallTimeout, allowsExpensiveNetwork: true,
            allowsConstrainedNetwork: true)
        wanted.wasRefused = wasRefused
        guard let url = try? await source.link(to: wanted), rangeServers.servesRanges(url) else { return nil }
        return (url, source)
    }

    /// Starts background downloads of the missing ranges of these packs.
    private func handOver(_ requests: [PackRequest], to background: BackgroundTransfers) async {
        var packs: [(request: PackRequest, partial: PartialPack, others: [Range<Int64>], url: URL)] = []
        for request in requests {
            let wasRefused = background.takeRefusal(of: request.pack)
            guard let (url, source) = await provenLink(of: request, wasRefused: wasRefused),
                let (pack, version) = target(of: request.pack), (try? lease.acquire(for: pack.name)) == true
            else { continue }
            defer { lease.release() }
            let transfer = transfer(request, pack, version, from: source, isInForeground: true) { _ in }
            // Read this list before `partialPack` reads the downloaded ranges, so that a range that ends in between
            // isn't requested again.
            let others = background.ranges(of: pack.name, version)
            guard let folder = try? store.prepareFolder(of: pack.name, isPurgeable: pack.isPurgeable),
                let partial = try? await transfer.partialPack(in: folder)
            else { continue }
            reload(pack.name)
            packs.append((request, partial, others, url))
        }
        let missing = packs.map { pack in pack.partial.missing.flatMap { $0.subtracting(pack.others) } }
        let ranges = BackgroundRanges.ranges(for: missing, limit: BackgroundRanges.maximumDownloads - background.count)
        let orders = zip(packs, ranges).flatMap { pack, ranges in
            ranges.map { order($0, of: pack.partial, from: pack.url, for: pack.request) }
        }
        guard !orders.isEmpty else { return }
        hasDelivery = false
        await background.start(orders)
    }

    /// Returns the request to the system for one background download.
    private func order(
        _ range: Range<Int64>, of partial: PartialPack, from url: URL, for request: PackRequest
    ) -> BackgroundOrder {
        let label = RangeLabel(
            pack: request.pack, version: partial.version.description, range: range, size: partial.manifest.archiveSize,
            origin: RangeServers.origin(of: url))
        return BackgroundOrder(
            url: url,
            headers: ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)", "Accept-Encoding": "identity"],
            label: label.text, expectedSize: Int64(range.count),
            allowsExpensiveNetwork: request.allowsExpensiveNetwork || !isAboveLimit,
            allowsConstrainedNetwork: request.allowsExpensiveNetwork)
    }

    // MARK: After the system has started the app

    /// Installs packs that the system has downloaded completely, and starts background downloads of missing ranges.
    func finishBackgroundDownloads() async {
        guard let background, isUsed else { return }
        load()
        isHandlingEvents = true
        await connect(background)
        await background.waitForDelivery()
        // Wait for the first answer about what the customer may use.
        for await customer in engine.customerState.watch() where !customer.isResolving { break }
        guard !isInForeground else { return }
        schedule()
        while let runningDownload, !isInForeground { await runningDownload.task.value }
        guard hasDelivery, background.count == 0, !isInForeground else { return }
        await handOver(requests.filter { isReady($0) }, to: background)
    }
}
