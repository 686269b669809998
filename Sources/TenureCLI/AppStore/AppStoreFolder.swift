import Foundation
import LocalAppStore
import TenureMint
import TenurePolicyFile
import TenureServer

/// The folder of a local store: what is missing is made, what is there is kept.
///
/// One process at a time has it: two that write one world down would make a third of it, which neither of them saw.
final class AppStoreFolder: Sendable {
    let path: String
    private let lock: Int32

    var authorityPath: String { path + "/authority" }
    var keyPath: String { path + "/SubscriptionKey.p8" }
    var clockPath: String { path + "/clock" }
    private var journalPath: String { path + "/world.sqlite" }

    /// Throws one clear line where the folder cannot be made, or another process has it.
    init(path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError("the folder `\(path)` cannot be made; choose another by --folder, or make it writable")
        }
        // The system lets go of it when the process ends, however that happens.
        lock = Foundation.open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw CommandError(
                "the folder `\(path)` cannot be written to; choose another by --folder, or make it writable")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            _ = Foundation.close(lock)
            throw CommandError("another local store runs in `\(path)`; stop it, or choose another folder by --folder")
        }
    }

    deinit { _ = Foundation.close(lock) }

    /// The store as it was left, or as the scenario says.
    func open(world file: String?) async throws -> (store: LocalAppStore, key: ServerAPIKey) {
        if !FileManager.default.fileExists(atPath: journalPath) {
            guard let file else {
                throw CommandError("there is no world in `\(path)` yet; name a scenario to begin with, by --world")
            }
            try await begin(try ScenarioOnDisk(path: file).read())
        }
        let journal = try Journal(
            path: journalPath, founding: try { throw CommandError("`\(journalPath)` is empty; remove it") }())
        let world = try journal.world()
        try write("the clock", to: clockPath) { try RehearsalClock.set(clockPath, to: world.now) }
        let store = try LocalAppStore(
            journal, signer: StoreSigner(authority: try authority(seed: world.seed)),
            clock: { [clockPath] in try? RehearsalClock.set(clockPath, to: $0) }, courier: HTTPCourier().carry)
        let key = try ServerAPIKey(seed: world.seed)
        try write("the key", to: keyPath) {
            try SecretFile(path: keyPath).replace(with: Array(key.pem.utf8))
        }
        return (store, key)
    }

    /// Plays the story into a world that has its name only when all of it has happened: who is stopped in between begins
    /// again, and never goes on from half a story.
    private func begin(_ scenario: Scenario) async throws {
        let part = journalPath + ".part"
        for file in [part, part + "-journal"] { try? FileManager.default.removeItem(atPath: file) }
        let journal = try Journal(path: part, founding: scenario.founding)
        let store = try LocalAppStore(
            journal, signer: StoreSigner(authority: try authority(seed: scenario.founding.seed)),
            courier: HTTPCourier().carry)
        try await scenario.happen(in: store)
        try journal.close()
        try write("the world", to: journalPath) {
            try FileManager.default.moveItem(atPath: part, toPath: journalPath)
        }
    }

    private func authority(seed: String) throws -> TestAuthority {
        let folder = URL(fileURLWithPath: authorityPath)
        if FileManager.default.fileExists(atPath: authorityPath + "/roots.pem") {
            return try TestAuthority(directory: folder)
        }
        let authority = try TestAuthority(seed: seed)
        try write("the test authority", to: authorityPath) { try authority.save(to: folder) }
        return authority
    }

    /// Foundation's own words name neither the file nor what to do.
    private func write(_ what: String, to file: String, _ work: () throws -> Void) throws {
        do {
            try work()
        } catch {
            throw CommandError("\(what) cannot be written to `\(file)`; make room, or make the folder writable")
        }
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
    func neighbor(_ name: String) -> String { PolicyFile.path(of: name, beside: path) }
}
