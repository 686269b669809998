import Foundation
import TenureContent

extension ContentLibrary {
    // MARK: States

    func publish() {
        let names = Set(catalog?.catalog.packs.map(\.name) ?? []).union(installed.keys).union(lost.keys)
            .union(requests.map(\.pack))
        var states: [String: State] = [:]
        for name in names { states[name] = state(of: name) }
        board.post(states, fallback: .unknown)
    }

    private func state(of name: String) -> State {
        let pack = catalog?.catalog[name]
        if let here = installed[name] {
            if let pack, !isAllowed(pack) { return .notEntitled }
            guard let version = pack?.version(for: setup.appVersion), version.manifest != here.version else {
                return .installed(version: here.version.description, update: nil)
            }
            return .installed(
                version: here.version.description,
                update: transferState(of: name) ?? .available(size: version.archiveSize))
        }
        guard let pack else { return .unknown }
        guard isAllowed(pack) else { return .notEntitled }
        guard let version = target(of: pack) else { return .needsAppUpdate }
        return transferState(of: name) ?? .available(size: lost[name] ?? version.archiveSize)
    }

    /// The state of a download that was asked for. Nil if none was.
    private func transferState(of name: String) -> State? {
        if let error = failures[name] { return .failed(error) }
        guard let request = requests.first(where: { $0.pack == name }) else { return nil }
        if request.isPaused { return .paused }
        if running?.pack == name, let phase { return phase }
        return .waiting(waits[name] ?? .turn)
    }

    var listings: [Tenure.Content.Listing] {
        load()
        let names = Set(catalog?.catalog.packs.map(\.name) ?? []).union(store.names)
        return names.sorted().map { name in
            Tenure.Content.Listing(name: name, state: board.state(of: name), bytesOnDisk: store.bytesOnDisk(of: name))
        }
    }

    // MARK: What the app asks for

    func download(_ name: String) async throws {
        load()
        look(at: name)
        guard ContentCatalog.isName(name) else { throw Tenure.AssetPackError.unknownPack(name) }
        for await customer in engine.customerState.watch() where !customer.isResolving { break }
        switch state(of: name) {
        case .installed(_, nil): return
        case .notEntitled: throw Tenure.AssetPackError.notEntitled(name)
        default: break
        }
        failures[name] = nil
        if let place = requests.firstIndex(where: { $0.pack == name }) {
            requests[place].isPaused = false
        } else {
            requests.append(ContentRequest(pack: name))
        }
        if waits[name] != .consent { waits[name] = nil }
        save()
        schedule()
        for await state in board.watch(name) {
            switch state {
            case .installed(_, nil): return
            case .installed(_, .failed(let error)), .failed(let error): throw error
            case .notEntitled: throw Tenure.AssetPackError.notEntitled(name)
            case .needsAppUpdate: throw Tenure.AssetPackError.needsAppUpdate(name)
            case .unknown where catalog != nil && catalog?.catalog[name] == nil:
                requests.removeAll { $0.pack == name }
                save()
                throw Tenure.AssetPackError.unknownPack(name)
            case .available, .installed(_, .available):
                throw Tenure.AssetPackError.canceled(name)
            default: break
            }
        }
        try Task.checkCancellation()
        throw Tenure.AssetPackError.canceled(name)
    }

    func pause(_ name: String) {
        load()
        guard let place = requests.firstIndex(where: { $0.pack == name }) else { return }
        requests[place].isPaused = true
        save()
        schedule()
    }

    func resume(_ name: String) {
        load()
        guard let place = requests.firstIndex(where: { $0.pack == name }) else { return }
        requests[place].isPaused = false
        (failures[name], waits[name]) = (nil, nil)
        save()
        schedule()
    }

    func cancel(_ name: String) async {
        await stop(name)
        PartialPack.discard(in: store.folder(of: name))
        schedule()
    }

    func remove(_ name: String) async {
        await stop(name)
        store.remove(name)
        look(at: name)
        schedule()
    }

    /// Takes a request back, and waits until nothing writes for it anymore.
    private func stop(_ name: String) async {
        load()
        requests.removeAll { $0.pack == name }
        (failures[name], waits[name]) = (nil, nil)
        save()
        guard let running, running.pack == name else { return }
        running.task.cancel()
        await running.task.value
    }

    func allowExpensiveNetwork(_ name: String) {
        load()
        guard let place = requests.firstIndex(where: { $0.pack == name }) else { return }
        requests[place].allowsExpensiveNetwork = true
        save()
        schedule()
    }

    func verify(_ name: String) -> Bool {
        load()
        guard let pack = store.installed(name) else { return false }
        for file in pack.manifest.files where !pack.isIntact(file) { Disk.remove(pack.path(of: file)) }
        look(at: name)
        publish()
        return installed[name] != nil
    }

    func url(for path: String, in name: String) throws -> URL {
        load()
        guard let pack = installed[name] else { throw Tenure.AssetPackError.notInstalled(name) }
        if let known = catalog?.catalog[name], !isAllowed(known) { throw Tenure.AssetPackError.notEntitled(name) }
        let isFile = pack.manifest.files.contains { $0.path == path }
        guard path.isEmpty || isFile || pack.manifest.files.contains(where: { $0.path.hasPrefix(path + "/") }) else {
            throw Tenure.AssetPackError.missingFile(path: path)
        }
        let file = path.isEmpty ? pack.path : pack.path + "/" + path
        guard Disk.exists(file) else {
            look(at: name)
            publish()
            throw Tenure.AssetPackError.notInstalled(name)
        }
        VersionUse.note(pack.folder, inFolder: store.folder(of: name), at: Date())
        return URL(fileURLWithPath: file, isDirectory: !isFile)
    }
}
