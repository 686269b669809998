import Foundation
import LocalAppStore
import TenureMint
import TenureServer

/// The folder of a local store: what is missing is made, what is there is kept.
struct AppStoreFolder {
    let path: String

    var authorityPath: String { path + "/authority" }
    var keyPath: String { path + "/SubscriptionKey.p8" }
    var clockPath: String { path + "/clock" }
    private var journalPath: String { path + "/world.sqlite" }

    /// Throws one clear line where the folder cannot be made.
    init(path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError("the folder `\(path)` cannot be made; choose another by --folder, or make it writable")
        }
    }

    /// The store as it was left, or as the scenario says.
    func open(world file: String?) async throws -> (store: LocalAppStore, key: ServerAPIKey) {
        let isNew = !FileManager.default.fileExists(atPath: journalPath)
        var scenario: Scenario?
        if isNew {
            guard let file else {
                throw CommandError("there is no world in `\(path)` yet; name a scenario to begin with, by --world")
            }
            scenario = try ScenarioOnDisk(path: file).read()
        }
        let journal = try Journal(
            path: journalPath,
            founding: try {
                guard let scenario else { throw CommandError("`\(journalPath)` is empty; remove it") }
                return scenario.founding
            }())
        let authority = try authority(seed: scenario?.founding.seed)
        let store = try LocalAppStore(
            journal, signer: StoreSigner(authority: authority),
            clock: { [clockPath] in try? RehearsalClock.set(clockPath, to: $0) }, courier: HTTPCourier().carry)
        if let scenario { try await scenario.happen(in: store) }
        let key = try ServerAPIKey(seed: await store.world.seed)
        try Data(key.pem.utf8).write(to: URL(fileURLWithPath: keyPath), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyPath)
        return (store, key)
    }

    private func authority(seed: String?) throws -> TestAuthority {
        let folder = URL(fileURLWithPath: authorityPath)
        if FileManager.default.fileExists(atPath: authorityPath + "/roots.pem") {
            return try TestAuthority(directory: folder)
        }
        let authority = try TestAuthority(seed: seed)
        try authority.save(to: folder)
        return authority
    }
}

/// A scenario file.
struct ScenarioOnDisk {
    let path: String

    /// Throws `PolicyFileError` with every mistake, or where the file cannot be read.
    func read() throws -> Scenario {
        try ScenarioReader.read(try InputFile(path: path).bytes(limit: 1 << 20), named: path)
    }

    /// The path of a file that the scenario names, beside its own.
    func neighbour(_ name: String) -> String {
        let folder = path == "-" ? "" : (path as NSString).deletingLastPathComponent
        return name.hasPrefix("/") || folder.isEmpty ? name : folder + "/" + name
    }
}
