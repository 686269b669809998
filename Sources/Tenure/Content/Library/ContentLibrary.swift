import Foundation
import TenureContent
import TenurePolicyFile

/// Manages the app's asset packs. It downloads the requested packs one at a time, in the order of the requests. While a
/// pack waits, the next pack is downloaded.
///
/// The packs come from the content sources in the app's options. Most sources have a catalog, a signed list of their
/// packs. The engine (`Engine`) decides which packs the customer may use.
actor ContentLibrary {
    typealias State = Tenure.AssetPack.State

    /// The published state of each pack.
    nonisolated let contentStates = ContentStates()
    let setup: Setup
    let engine: Engine
    let store: PackStore
    let sharedRequests: SharedRequests
    /// Lets only one process at a time download: the app or one of its extensions.
    let lease: TransferLease
    /// The downloads that the system continues in the background. Nil if it can't do so for this process.
    let background: BackgroundTransfers?
    /// Which servers answer a request for a range with only that range.
    let rangeServers = RangeServers()

    // Known packs and requests. The keys of these dictionaries are names of packs.
    var catalogs = Catalogs([])
    /// The revision of the list of requests that was read last.
    var revision = 0
    /// The downloads that the app and its extensions asked for, in order.
    var requests: [PackRequest] = []
    /// Downloaded packs with all their files.
    var installed: [String: InstalledPack] = [:]
    /// Downloads that were begun and aren't installed yet.
    var plans: [String: PartialPack.Plan] = [:]
    /// The number of missing bytes of each partly downloaded pack.
    var missingBytesByPack: [String: Int64] = [:]

    /// Products about which the engine decides. Whether the customer may use a product's packs is known only after the
    /// engine's first decision about it.
    var followedProducts: Set<String> = []

    // Current work. The keys of these dictionaries are names of packs.
    /// Why a requested pack isn't being downloaded now.
    var waits: [String: Tenure.AssetPack.Wait] = [:]
    /// Why a download failed, until the app requests the pack again.
    var failures: [String: Tenure.AssetPackError] = [:]
    /// The download of this process, if there is one.
    var runningDownload: RunningDownload?
    /// The state of this process's download. Nil until the download has reported a state.
    var phase: State?
    /// The download of another process, if there is one.
    var otherDownload: TransferLease.Holder?
    /// Whether a task waits for the end of the other process's download.
    var isWatchingOther = false
    /// The highest progress of each download, because progress never goes back.
    var progress: [String: Tenure.AssetPack.Progress] = [:]
    /// The speed of the current download of this or another process.
    var rate = TransferRate()
    /// The delays before packs are tried again after failures.
    var backoffs: [String: Backoff] = [:]
    /// Nil until the system has reported the network's condition.
    var network: NetworkCondition?
    /// Packs that the customer was entitled to since the start.
    var packsAllowedSinceStart: Set<String> = []
    /// The time when the next right of a product ends, with the task that waits until then. The end of an entitlement's
    /// right needs no timer: the engine publishes it.
    var timer: (at: Date, task: Task<Void, Never>)?
    /// Whether this process downloads. In the background, the system does so, and this process only installs packs.
    var isInForeground = true
    /// Whether the system has started the app to report downloads that ended in the background.
    var isHandlingEvents = false
    /// Packs with ranges that the system has downloaded and that aren't installed yet.
    var delivered: Set<String> = []
    /// Whether the system has delivered a range since background downloads were last started.
    var hasDelivery = false
    private var isLoaded = false

    /// A download of this process.
    struct RunningDownload {
        let pack: String
        let version: ContentCatalog.Version
        let task: Task<Void, Never>
        /// Whether the app was in the foreground when the download began.
        let isInForeground: Bool
    }

    init(_ setup: Setup, engine: Engine) {
        self.setup = setup
        self.engine = engine
        let store = PackStore(location: setup.contentLocation ?? ContentLocation(setup.options, host: setup.host))
        self.store = store
        sharedRequests = SharedRequests(store: store)
        lease = TransferLease(store: store)
        let servers = rangeServers
        background = setup.background.map {
            BackgroundTransfers($0, store: store, servers: servers, stallTimeout: setup.stallTimeout)
        }
    }

    /// Whether the app's options contain content sources.
    var isUsed: Bool { setup.options.content != nil }

    // MARK: Starting

    /// Follows the customer, the network and the catalogs, until its task is canceled.
    func run() async {
        guard isUsed else { return }
        // Load first, so that no pack is shown as `notEntitled` only because nothing was read yet.
        await engine.load()
        load()
        for name in store.names { store.removeOldVersions(of: name) }
        await followProducts()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.followNetwork() }
            group.addTask { await self.followCustomer() }
            group.addTask { await self.followCatalogs() }
            group.addTask { await self.followOtherProcesses() }
            group.addTask { await self.followDevice() }
        }
        timer?.task.cancel()
        runningDownload?.task.cancel()
    }

    /// Reads the stored catalogs, the requests and the packs, once.
    func load() {
        guard !isLoaded, isUsed else { return }
        isLoaded = true
        catalogs = Catalogs(entries)
        catalogs.restore(from: store.location.durableFolder, bundleID: bundleID)
        updateRequests(from: sharedRequests.read())
        for name in store.names { reload(name) }
        // Hold downloads until it is known whether the system started the app in the background.
        if background != nil, !BackgroundTransfers.packs(in: store).isEmpty { isInForeground = false }
        publish()
    }

    /// The sources in the app's options.
    private var entries: [Catalogs.Entry] {
        let http = HTTPContent(setup.contentTransport, servers: rangeServers, log: setup.options.log)
        return (setup.options.content?.elements ?? []).map { element in
            let source: any Tenure.ContentSource =
                switch element.kind {
                case .service:
                    ServiceContent(engine, http, appVersion: setup.appVersion, folder: store.location.durableFolder)
                case .webServer(let url): WebServerContent(url: url, http: http, timeout: setup.options.serviceTimeout)
                case .embedded(let folder): BundledContent(folder: folder)
                case .custom(let source): source
                }
            return Catalogs.Entry(source: source, keys: element.keys.compactMap { PinnedKey($0) })
        }
    }

    /// Starts or stops downloads after each change of the network, such as from Wi-Fi to cellular.
    private func followNetwork() async {
        for await condition in setup.network() {
            network = condition
            schedule()
        }
    }

    /// After each change in what the customer may use, starts or stops downloads, and finishes purchases with packs
    /// that are all installed (`afterContent`).
    ///
    /// Two streams tell of these changes. The stream of `customerState` also yields when a right ends. The stream of
    /// `changes()` also yields after changes of rights to products, which `Customer` doesn't contain.
    private func followCustomer() async {
        let changes = await engine.changes()
        for await _ in engine.customerState.watch().merged(with: changes) {
            schedule()
            await finishPurchases()
        }
    }

    /// Asks for newer catalogs every 23 hours, or earlier after a failure.
    private func followCatalogs() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            if await refreshCatalogs() { backoff.succeed() } else { backoff.fail() }
            let wait = backoff.failures > 0 ? min(backoff.wait(chance: setup.chance()), 300) : 82_800
            guard (try? await Task.sleep(nanoseconds: UInt64(wait * 1e9))) != nil else { return }
        }
    }

    // MARK: Catalogs

    /// The bundle ID of the app, also in an extension. Only catalogs for this app are accepted.
    var bundleID: String? { setup.host.containingBundleID ?? setup.access.bundleID }

    /// Asks all sources for their catalogs, because the app has called `Content.refresh()`.
    func refresh() async {
        load()
        await refreshCatalogs()
    }

    /// Asks all sources for their catalogs. Returns whether all have answered. As this runs at least daily, it also
    /// renews the markers of this process (`VersionUse`).
    @discardableResult func refreshCatalogs() async -> Bool {
        VersionUse.renew(at: Date())
        var isComplete = true
        for index in catalogs.entries.indices {
            let source = catalogs.entries[index].source
            do {
                let listings = try await source.list()
                let isNew = try catalogs.entries[index].apply(listings, bundleID: bundleID)
                if isNew { try catalogs.entries[index].store(in: store.location.durableFolder, bundleID: bundleID) }
            } catch {
                // If the source had a catalog before, that catalog is still used.
                if case Tenure.ContentSourceError.missing = error { catalogs.entries[index].isKnown = true }
                setup.options.log.info("the content catalog of \(source.identifier) can't be refreshed: \(error)")
                isComplete = false
            }
            await followProducts()
        }
        await finishPurchases()
        return isComplete
    }

    /// Asks the engine to decide about the products that unlock packs.
    func followProducts() async {
        let products = products
        await engine.follow(products: products)
        followedProducts = products
        schedule()
    }

    /// Products that unlock a pack directly, without an entitlement.
    private var products: Set<String> {
        let unlocks =
            catalogs.packs.map(\.unlock) + catalogs.embedded.values.map(\.pack.unlock)
            + installed.values.compactMap(\.description.unlock) + plans.values.compactMap(\.description.unlock)
        return Set(unlocks.compactMap { if case .product(let id) = $0 { id } else { nil } })
    }

    // MARK: Files on the disk

    /// Updates `installed`, `plans` and `missingBytesByPack` for a pack from the files on the disk.
    func reload(_ name: String) {
        let folder = store.folder(of: name)
        let pack = store.installed(name)
        let missing = pack?.lostFiles ?? []
        installed[name] = missing.isEmpty ? pack : nil
        missingBytesByPack[name] = missing.isEmpty ? nil : missing.reduce(0) { $0 + $1.size }
        plans[name] = PartialPack.plan(in: folder)
        guard let plan = plans[name], let version = plan.description.version,
            let manifest = store.manifest(version.manifest, inFolder: folder),
            let partial = PartialPack(version.manifest, manifest, in: folder)
        else { return }
        missingBytesByPack[name] = partial.missingBytes
    }

    /// Changes the list of downloads for all processes.
    func update(_ change: (inout [PackRequest]) -> Void) {
        do {
            updateRequests(from: try sharedRequests.update(change))
        } catch {
            setup.options.log.error("the list of downloads can't be written: \(error)")
            change(&requests)
        }
    }

    /// Replaces this process's copy of the list of requests, which all processes share.
    func updateRequests(from contents: SharedRequests.Contents) {
        revision = contents.revision
        requests = contents.requests
    }
}
