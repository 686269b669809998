import Foundation
import TenureContent

/// Computes the states of asset packs, and performs the app's requests: see `Tenure.AssetPack`.
///
/// A request such as `download("maps")` only changes the list of requests, which the app and its extensions share.
/// `schedule` then decides what runs, and the pack's state tells the app the result.
extension ContentLibrary {
    // MARK: States

    /// Tells the app which packs have a new state.
    func publish() {
        var states: [String: State] = [:]
        for name in names { states[name] = state(of: name) }
        contentStates.post(states)
    }

    /// The packs that have a state: known, on the device, or requested.
    private var names: Set<String> {
        Set(catalogs.packs.map(\.name)).union(catalogs.embedded.keys).union(installed.keys)
            .union(missingBytesByPack.keys).union(plans.keys).union(requests.map(\.pack))
    }

    /// Computes the state of a pack from the catalogs, the files on the device, the requests and the customer's rights.
    func state(of name: String) -> State {
        guard unlock(of: name) != nil else { return .unknown }
        guard isAllowed(name) else { return .notEntitled }
        let versionOnDevice = packInUse(name)?.version
        guard let target = target(of: name), target.version.manifest != versionOnDevice else {
            // There is nothing to download.
            if let versionOnDevice { return .installed(version: versionOnDevice.description, update: nil) }
            return catalogs.pack(name) == nil ? .unknown : .needsAppUpdate
        }
        let size = missingBytesByPack[name] ?? target.version.archiveSize
        let transferState = transferState(of: name) ?? .available(size: size)
        guard let versionOnDevice else { return transferState }
        return .installed(version: versionOnDevice.description, update: transferState)
    }

    /// Returns the state of a requested download of a pack. Nil if no download is requested.
    private func transferState(of name: String) -> State? {
        if let error = failures[name] { return .failed(error) }
        guard let request = requests.first(where: { $0.pack == name }) else { return nil }
        if request.isPaused { return .paused }
        // This process, another process or the system may be downloading the pack. Otherwise the pack waits.
        if runningDownload?.pack == name { return phase ?? .waiting(backoffs[name] == nil ? .turn : .network) }
        if let state = stateElsewhere(of: name) { return state }
        if let wait = waits[name] { return .waiting(wait) }
        if let progress = progress[name], background?.packs.contains(name) == true { return .downloading(progress) }
        return .waiting(.turn)
    }

    /// Returns the version of a pack that the app can open now: a downloaded version, or the version in the app's
    /// bundle.
    ///
    /// If the device has both versions, the version in the catalog is opened. If the catalog contains neither version,
    /// the downloaded version is opened. But if an update of the app has brought a different version in its bundle
    /// since the download, the version in the bundle is opened.
    func packInUse(_ name: String) -> (any PackInUse)? {
        guard let downloaded = installed[name] else { return catalogs.embedded(name) }
        guard let embedded = catalogs.embedded(name) else { return downloaded }
        let newest = catalogs.pack(name)?.version(for: setup.appVersion)?.manifest
        if newest == downloaded.version { return downloaded }
        if newest == embedded.version { return embedded }
        return downloaded.embedded == embedded.version.description ? downloaded as any PackInUse : embedded
    }

    /// All packs with their states and sizes on disk, and leftovers of packs that are no longer in any catalog.
    var listings: [Tenure.Content.Listing] {
        load()
        return names.union(store.names).sorted().map { name in
            Tenure.Content.Listing(
                name: name, state: contentStates.state(of: name), bytesOnDisk: store.bytesOnDisk(of: name))
        }
    }

    // MARK: Requests of the app

    /// Requests a pack: adds a request to the list, and waits until the pack's state shows the result.
    func download(_ name: String) async throws {
        load()
        guard ContentCatalog.isName(name) else { throw Tenure.AssetPackError.unknownPack(name) }
        // Wait until the engine knows what the customer may use.
        for await customer in engine.customerState.watch() where !customer.isResolving { break }
        await checkEndedRight(to: name)
        // Return or throw if there is nothing to download, or if the customer may not use the pack.
        if runningDownload?.pack != name { reload(name) }
        switch state(of: name) {
        case .installed(_, nil): return
        case .notEntitled: throw Tenure.AssetPackError.notEntitled(name)
        default: break
        }
        // Add a request, or continue a paused request. The download will replace the installed version.
        failures[name] = nil
        if waits[name] != .consent { waits[name] = nil }
        let installedVersion = installed[name]?.description.manifest
        update { requests in
            // Replace a request that was made before the installed version changed. It is finished, so another
            // process may be about to remove it from the shared list.
            requests.removeAll { request in
                request.pack == name && installedVersion != nil && request.installed != installedVersion
            }
            if let index = requests.firstIndex(where: { $0.pack == name }) {
                requests[index].isPaused = false
            } else {
                requests.append(PackRequest(pack: name, installed: installedVersion))
            }
        }
        let versionBefore = packInUse(name)?.version.description
        schedule()
        // Wait until the pack is installed, or its state shows why it can't be.
        for await state in contentStates.watch(name) {
            switch state {
            case .installed(_, nil): return
            // The version that was downloaded is installed. This call doesn't wait for an even newer version.
            case .installed(let version, .available) where version != versionBefore: return
            case .installed(_, .failed(let error)), .failed(let error): throw error
            case .notEntitled:
                await checkEndedRight(to: name)
                if isAllowed(name) { continue }
                // Remove the request. After a purchase, the app has to call `download()` again.
                update { $0.removeAll { $0.pack == name } }
                throw Tenure.AssetPackError.notEntitled(name)
            case .needsAppUpdate: throw Tenure.AssetPackError.needsAppUpdate(name)
            case .unknown where !catalogs.isEmpty && catalogs.pack(name) == nil:
                update { $0.removeAll { $0.pack == name } }
                throw Tenure.AssetPackError.unknownPack(name)
            case .available, .installed(_, .available): throw Tenure.AssetPackError.canceled(name)
            default: break
            }
        }
        try Task.checkCancellation()
        throw Tenure.AssetPackError.canceled(name)
    }

    /// Pauses the download of a pack, even if the system is downloading it in the background.
    func pause(_ name: String) async {
        change(name) { $0.isPaused = true }
        await background?.cancel(name)
    }

    /// Continues a paused download, or tries again after a failure.
    func resume(_ name: String) {
        (failures[name], waits[name]) = (nil, nil)
        change(name) { $0.isPaused = false }
    }

    /// Lets the download of a pack use an expensive network, or a network in Low Data Mode.
    func allowExpensiveNetwork(_ name: String) { change(name) { $0.allowsExpensiveNetwork = true } }

    /// Changes the request for a pack, if there is one.
    private func change(_ name: String, _ change: (inout PackRequest) -> Void) {
        load()
        update { requests in
            if let index = requests.firstIndex(where: { $0.pack == name }) { change(&requests[index]) }
        }
        schedule()
    }

    /// Removes the request for a pack, and deletes what was downloaded of a version that isn't complete.
    func cancel(_ name: String) async {
        await stop(name)
        PartialPack.discard(in: store.folder(of: name))
        progress[name] = nil
        reload(name)
        schedule()
    }

    /// Removes the request for a pack, and deletes all files of the pack, except those in the app's bundle.
    func remove(_ name: String) async {
        await stop(name)
        store.remove(name)
        progress[name] = nil
        reload(name)
        for entry in catalogs.entries { await entry.source.remove(name) }
        // An unchanged list still gets a new revision, so that other processes read the pack's files again.
        update { _ in }
        schedule()
    }

    /// Removes a request, and waits until no process writes the pack's files.
    private func stop(_ name: String) async {
        load()
        (failures[name], waits[name]) = (nil, nil)
        update { $0.removeAll { $0.pack == name } }
        await background?.cancel(name)
        if let runningDownload, runningDownload.pack == name {
            runningDownload.task.cancel()
            await runningDownload.task.value
        }
        await waitForOthers(writing: name)
    }

    /// Deletes a pack's files with wrong contents. If a file is deleted or missing, the downloaded version is no longer
    /// installed, and the next download fetches only these files. Returns whether the pack can still be opened.
    func verify(_ name: String) -> Bool {
        load()
        guard let pack = store.installed(name) else { return packInUse(name) != nil }
        for file in pack.manifest.files where !pack.isIntact(file) { Disk.remove(pack.path(of: file)) }
        reload(name)
        publish()
        return packInUse(name) != nil
    }

    /// Returns the URL of a file or folder of a pack. Throws if the pack isn't on the device, if it has no such file,
    /// or if the customer may not use it.
    func url(for path: String, in name: String) async throws -> URL {
        load()
        if packInUse(name) != nil, !isAllowed(name) { try await waitForRight(to: name) }
        // File names are stored in this Unicode normalization form. The app may use another form.
        let path = path.precomposedStringWithCanonicalMapping
        // Another process may have replaced or removed the version that this process knows.
        for isFirst in [true, false] {
            guard let pack = packInUse(name) else { break }
            guard isAllowed(name) else { throw Tenure.AssetPackError.notEntitled(name) }
            guard let isFile = pack.isFile(path) else { throw Tenure.AssetPackError.missingFile(path: path) }
            // Record the use before checking that the version exists, so that no process removes it in between.
            if let pack = pack as? InstalledPack {
                VersionUse.note(pack.folder, inFolder: store.folder(of: name), at: Date())
            }
            let file = path.isEmpty ? pack.path : pack.path + "/" + path
            if Disk.exists(file) { return URL(fileURLWithPath: file, isDirectory: !isFile) }
            guard isFirst else { break }
            reload(name)
            publish()
        }
        throw Tenure.AssetPackError.notInstalled(name)
    }

    /// Waits until the engine knows whether the customer may use a pack. If the right has ended, also waits for a
    /// search, but no longer than a timeout.
    private func waitForRight(to name: String) async throws {
        await engine.load()
        await followProducts()
        guard !isAllowed(name) else { return }
        for await customer in engine.customerState.watch() where !customer.isResolving || isAllowed(name) { break }
        _ = await value(of: Task { await checkEndedRight(to: name) }, within: setup.resolvingTimeout)
        try Task.checkCancellation()
    }
}
