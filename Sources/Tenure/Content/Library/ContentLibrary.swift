import Foundation
import TenureAPI
import TenureContent
import TenureCore
import TenureHTTP
import TenurePolicyFile

/// Knows the asset packs of the app, and downloads what was asked for: one pack at a time, in the order asked. One that
/// waits lets the next pass.
actor ContentLibrary {
    typealias State = Tenure.AssetPack.State

    nonisolated let board = StateBoard()
    let setup: Setup
    let engine: Engine
    let store: PackStore
    private let source: Tenure.ContentSource?

    var catalog: SignedCatalog?
    private var links: [String: PackLinks] = [:]
    var requests: [ContentRequest] = []
    /// What keeps a request from being served now.
    var waits: [String: Tenure.AssetPack.Wait] = [:]
    var failures: [String: Tenure.AssetPackError] = [:]
    /// Packs that are installed and complete, with their versions.
    var installed: [String: InstalledPack] = [:]
    /// Bytes that a pack which lost files has to fetch.
    var lost: [String: Int64] = [:]
    var running: (pack: String, task: Task<Void, Never>)?
    var phase: State?
    private var rate = TransferRate()
    private var backoffs: [String: Backoff] = [:]
    private var network: NetworkCondition?
    private var ownedProducts: Set<String> = []
    private var isLoaded = false

    init(_ setup: Setup, engine: Engine) {
        self.setup = setup
        self.engine = engine
        store = PackStore(location: setup.contentLocation ?? ContentLocation(setup.options, host: setup.host))
        source = setup.options.content
    }

    // MARK: Starting

    /// Follows the customer, the network and the catalog, until its task is canceled.
    func run() async {
        guard source != nil else { return }
        load()
        for name in store.names { store.removeOldVersions(of: name) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.followNetwork() }
            group.addTask { await self.followCustomer() }
            group.addTask { await self.followCatalog() }
        }
        running?.task.cancel()
    }

    func load() {
        guard !isLoaded else { return }
        isLoaded = true
        requests = ContentRequest.read(in: store.location.durable)
        let text = Disk.contents(of: catalogPath, most: SignedCatalog.largestText)
        catalog = text.flatMap { try? verified($0) }
        for name in store.names { look(at: name) }
        publish()
    }

    private func followNetwork() async {
        for await condition in setup.network() {
            network = condition
            schedule()
        }
    }

    private func followCustomer() async {
        let changes = await engine.changes()
        for await _ in engine.customerState.watch().merged(with: changes) {
            await refreshProducts()
            schedule()
        }
    }

    private func followCatalog() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            if await refreshCatalog() { backoff.succeed() } else { backoff.fail() }
            let wait = backoff.failures > 0 ? min(backoff.wait(chance: setup.chance()), 300) : 82_800
            guard (try? await Task.sleep(nanoseconds: UInt64(wait * 1e9))) != nil else { return }
        }
    }

    private func refreshProducts() async {
        var owned: Set<String> = []
        for pack in catalog?.catalog.packs ?? [] {
            guard case .product(let id) = pack.unlock else { continue }
            if await engine.allowsProduct(id) { owned.insert(id) }
        }
        ownedProducts = owned
    }

    // MARK: The catalog

    private var catalogPath: String { store.location.durable.path + "/" + SignedCatalog.fileName }

    private var keys: [PinnedKey] {
        switch source?.kind {
        case .service(let keys), .webServer(_, let keys): keys.compactMap { PinnedKey($0) }
        case nil: []
        }
    }

    private func verified(_ text: Data) throws(ContentError) -> SignedCatalog {
        let bundleID = setup.host.containingBundleID ?? setup.access.bundleID
        return try SignedCatalog.verify(text, keys: keys, bundleID: bundleID)
    }

    func refresh() async {
        load()
        await refreshCatalog()
    }

    @discardableResult
    private func refreshCatalog() async -> Bool {
        do {
            switch source?.kind {
            case .service: try await take(try await askService())
            case .webServer(let url, _):
                let response = try await setup.contentTransport.send(
                    TransportRequest(
                        url.appendingPathComponent(SignedCatalog.fileName), timeout: setup.options.serviceTimeout,
                        bodyLimit: SignedCatalog.largestText))
                guard response.status == 200 else { return false }
                try await take(response.body)
            case nil: return false
            }
            return true
        } catch {
            setup.options.log.info("the content catalog can't be refreshed: \(error)")
            return false
        }
    }

    private func askService() async throws -> Data {
        let response = try await engine.content(appVersion: setup.appVersion)
        guard let service = setup.service else { return Data() }
        links = response.packs.compactMapValues { links in
            guard let manifest = service.resolve(links.manifest), let archive = service.resolve(links.archive) else {
                return nil
            }
            return PackLinks(manifest: manifest, archive: archive)
        }
        return Data(response.catalog.utf8)
    }

    private func take(_ text: Data) async throws {
        let news = try verified(text)
        if let catalog {
            guard news.counter >= catalog.counter else {
                throw ContentError.older(counter: news.counter, known: catalog.counter)
            }
            guard news.counter > catalog.counter || news.catalog == catalog.catalog else {
                throw ContentError.sameCounter(news.counter)
            }
        }
        if news.text != catalog?.text {
            try ContentLocation.make(store.location.durable)
            try Disk.replace(catalogPath, with: Data(news.text.utf8))
            catalog = news
        }
        await refreshProducts()
        schedule()
    }

    private func links(for pack: String, _ version: ContentCatalog.Version, isFresh: Bool) async throws -> PackLinks {
        if case .webServer(let url, _) = source?.kind {
            return PackLinks(
                manifest: url.appendingPathComponent(version.manifest.description),
                archive: url.appendingPathComponent(version.archive.description))
        }
        if isFresh || !hasLinks(for: pack, version) {
            do {
                try await take(try await askService())
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw TransferStop.network(retryAfter: nil, madeProgress: false)
            }
        }
        guard hasLinks(for: pack, version), let links = links[pack] else {
            throw TransferStop.network(retryAfter: nil, madeProgress: false)
        }
        return links
    }

    /// Whether the links lead to this version: the service gives those of the newest.
    private func hasLinks(for pack: String, _ version: ContentCatalog.Version) -> Bool {
        links[pack]?.archive.path.contains(version.archive.description) ?? false
    }

    // MARK: What may be downloaded

    func isAllowed(_ pack: ContentCatalog.Pack) -> Bool {
        switch pack.unlock {
        case .entitlement(let name): engine.customerState.allows(name)
        case .product(let id): ownedProducts.contains(id)
        }
    }

    /// The version that a download brings: the one that was begun, or the newest.
    func target(of pack: ContentCatalog.Pack) -> ContentCatalog.Version? {
        let begun = PartialPack.plan(in: store.folder(of: pack.name))?.version
        return pack.versions.first { $0.manifest.description == begun } ?? pack.version(for: setup.appVersion)
    }

    func look(at name: String) {
        guard let pack = store.installed(name) else {
            (installed[name], lost[name]) = (nil, nil)
            return
        }
        let missing = pack.lostFiles
        installed[name] = missing.isEmpty ? pack : nil
        lost[name] = missing.isEmpty ? nil : missing.reduce(0) { $0 + $1.size }
    }

    private func missingBytes(of request: ContentRequest) -> Int64 {
        guard let pack = catalog?.catalog[request.pack], let version = target(of: pack) else { return 0 }
        let folder = store.folder(of: pack.name)
        guard let manifest = store.manifest(version.manifest, inFolder: folder),
            let partial = PartialPack(version.manifest, manifest, in: folder)
        else { return lost[request.pack] ?? version.archiveSize }
        return partial.missingBytes
    }

    private var isAboveLimit: Bool {
        requests.lazy.filter { !$0.isPaused }.reduce(0) { $0 + missingBytes(of: $1) }
            > setup.options.expensiveNetworkLimit
    }

    private func needsConsent(_ request: ContentRequest) -> Bool {
        guard let network, !request.allowsExpensiveNetwork else { return false }
        return network.isConstrained || network.isExpensive && isAboveLimit
    }

    // MARK: Serving requests

    /// Stops what may not go on, and begins what may.
    func schedule() {
        defer { publish() }
        if let running {
            guard let request = requests.first(where: { $0.pack == running.pack }), isReady(request) else {
                running.task.cancel()
                return
            }
            return
        }
        guard let request = requests.first(where: isReady), let pack = catalog?.catalog[request.pack],
            let version = target(of: pack)
        else { return }
        start(request, pack, version)
    }

    private func isReady(_ request: ContentRequest) -> Bool {
        guard !request.isPaused, failures[request.pack] == nil, let pack = catalog?.catalog[request.pack],
            isAllowed(pack), target(of: pack) != nil
        else { return false }
        if needsConsent(request) {
            waits[request.pack] = .consent
            return false
        }
        if waits[request.pack] == .consent { waits[request.pack] = nil }
        return waits[request.pack] == nil
    }

    private func start(_ request: ContentRequest, _ pack: ContentCatalog.Pack, _ version: ContentCatalog.Version) {
        let (events, continuation) = AsyncStream.makeStream(
            of: PackTransfer.Event.self, bufferingPolicy: .bufferingNewest(1))
        let transfer = PackTransfer(
            pack: pack, version: version, store: store, transport: setup.contentTransport,
            timeout: setup.stallTimeout,
            allowsExpensiveNetwork: request.allowsExpensiveNetwork || !isAboveLimit,
            allowsConstrainedNetwork: request.allowsExpensiveNetwork,
            links: { [weak self] isFresh in
                guard let self else { throw CancellationError() }
                return try await self.links(for: pack.name, version, isFresh: isFresh)
            }, freeSpace: setup.freeSpace, report: { continuation.yield($0) })
        rate = TransferRate()
        let task = Task { [weak self] in
            let work = Task.detached {
                defer { continuation.finish() }
                do {
                    try await transfer.run()
                    return Result<Void, any Error>.success(())
                } catch {
                    return .failure(error)
                }
            }
            let result = await withTaskCancellationHandler {
                for await event in events { await self?.note(event, of: pack.name) }
                return await work.value
            } onCancel: {
                work.cancel()
            }
            await self?.finish(pack.name, result)
        }
        running = (pack.name, task)
    }

    private func note(_ event: PackTransfer.Event, of pack: String) {
        guard running?.pack == pack else { return }
        switch event {
        case .installing: phase = .installing
        case .progress(let bytes, let total):
            rate.note(bytes)
            phase = .downloading(.init(bytes: bytes, total: total, bytesPerSecond: rate.bytesPerSecond))
        }
        publish()
    }

    private func finish(_ pack: String, _ result: Result<Void, any Error>) async {
        running = nil
        phase = nil
        switch result {
        case .success:
            requests.removeAll { $0.pack == pack }
            backoffs[pack] = nil
            save()
            look(at: pack)
            await finishPurchases()
        case .failure(TransferStop.network(let retryAfter, let madeProgress)):
            // A connection that carried bytes is opened again soon.
            if madeProgress { backoffs[pack] = nil } else { backoffs[pack, default: Backoff()].fail() }
            let wait = backoffs[pack].map { $0.wait(chance: setup.chance()) / 4 } ?? 0.1
            suspend(pack, .network, seconds: max(min(wait, 60), retryAfter ?? 0))
        case .failure(TransferStop.space(let missing)): suspend(pack, .space(missing: missing), seconds: 10)
        case .failure(TransferStop.failed(let error)): failures[pack] = error
        case .failure(is CancellationError): break
        case .failure(let error): failures[pack] = .storage("\(error)")
        }
        schedule()
    }

    private func suspend(_ pack: String, _ wait: Tenure.AssetPack.Wait, seconds: Double) {
        waits[pack] = wait
        Task { [weak self] in
            try? await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
            await self?.endWait(of: pack, wait)
        }
    }

    private func endWait(of pack: String, _ wait: Tenure.AssetPack.Wait) {
        guard waits[pack] == wait else { return }
        waits[pack] = nil
        schedule()
    }

    func save() {
        do throws(DiskFailure) {
            try ContentRequest.write(requests, in: store.location.durable)
        } catch {
            setup.options.log.error("the list of downloads can't be written: \(error)")
        }
    }

    /// Finishes purchases whose packs are all installed: see `Options.Finishing.afterContent`.
    private func finishPurchases() async {
        guard case .afterContent(let products) = setup.options.finishing, let packs = catalog?.catalog.packs else {
            return
        }
        let sold = await engine.knownCatalog()
        for product in products.sorted() {
            let gifts = Set(sold?.gifts(of: product).map(\.entitlement) ?? [])
            let unlocked = packs.filter { pack in
                switch pack.unlock {
                case .entitlement(let name): gifts.contains(name)
                case .product(let id): id == product
                }
            }
            guard !unlocked.isEmpty, unlocked.allSatisfy({ installed[$0.name] != nil }) else { continue }
            await engine.contentArrived(forProduct: product)
        }
    }
}
