import Foundation
import LocalAppStore
import TenureMint
import TenureServer

/// The folder with the files of a local App Store. Missing files are created, and existing files are kept.
///
/// Only one process at a time may use the folder. Two processes would mix their operations in the journal, the file
/// with all operations from which the state is computed.
final class LocalStoreFolder: Sendable {
    let path: String
    /// The descriptor of the file that this process locks.
    private let lock: Int32

    /// The folder of the test authority, which signs in place of Apple.
    var authorityPath: String { path + "/authority" }
    /// The private key with which servers sign their tokens for the App Store Server API.
    var keyPath: String { path + "/SubscriptionKey.p8" }
    /// The file with the local App Store's time, which a service can use as its clock.
    var clockPath: String { path + "/clock" }
    private var journalPath: String { path + "/journal.sqlite" }

    /// Throws if the folder can't be created, or another process uses it.
    init(path: String) throws {
        self.path = path
        try makeFolder(path, attributes: [.posixPermissions: 0o700], or: "choose another one with --folder")
        // The system releases the lock when the process ends, even after a crash.
        lock = Foundation.open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw CommandError(
                "the folder `\(path)` can't be written; make it writable, or choose another one with --folder")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            _ = Foundation.close(lock)
            throw CommandError(
                "another local App Store runs in `\(path)`; stop it, or choose another folder with --folder")
        }
    }

    deinit {
        // Unlock explicitly. A child process that was just forked may still have a copy of the descriptor. Then closing
        // this descriptor doesn't release the lock.
        flock(lock, LOCK_UN)
        _ = Foundation.close(lock)
    }

    /// Returns the store with the state in the folder, and the key for its App Store Server API. If the folder has no
    /// state, the store begins with the state after the scenario's operations.
    func open(scenario file: String?) async throws -> (store: LocalAppStore, key: ServerAPIKey) {
        if !FileManager.default.fileExists(atPath: journalPath) {
            guard let file else {
                throw CommandError(
                    "the folder `\(path)` has no local App Store yet; pass the scenario to begin with: --scenario FILE")
            }
            try await performScenario(try ScenarioOnDisk(path: file).read())
        }
        // `Journal` asks for a header only if the file has no journal. The file has one, unless another program emptied
        // it.
        func headerOfEmptyFile() throws -> JournalHeader {
            throw CommandError("`\(journalPath)` is empty; delete it, and start with --scenario")
        }
        let journal = try Journal(path: journalPath, header: try headerOfEmptyFile())
        let state = try journal.state()
        try write("the clock", to: clockPath) { try FileClock.set(clockPath, to: state.now) }
        let store = LocalAppStore(
            state, signer: AppStoreSigner(authority: try authority()), journal: journal,
            clock: { [clockPath] in try? FileClock.set(clockPath, to: $0) }, sender: HTTPNotificationSender.send)
        let key = try ServerAPIKey(seed: state.seed)
        try write("the key", to: keyPath) { try SecretFile(path: keyPath).replace(with: Array(key.pem.utf8)) }
        return (store, key)
    }

    /// Performs the scenario's operations, and records them in a new journal. The journal gets its name when all
    /// operations are done, so if the process ends before, the next start begins again.
    private func performScenario(_ scenario: Scenario) async throws {
        let partialPath = journalPath + ".part"
        for file in [partialPath, partialPath + "-journal"] { try? FileManager.default.removeItem(atPath: file) }
        let journal = try Journal(path: partialPath, header: scenario.header)
        let store = LocalAppStore(
            try journal.state(), signer: AppStoreSigner(authority: try authority()), journal: journal,
            sender: HTTPNotificationSender.send)
        try await scenario.perform(in: store)
        journal.close()
        try write("the journal", to: journalPath) {
            try FileManager.default.moveItem(atPath: partialPath, toPath: journalPath)
        }
    }

    /// Reads the folder's test authority, or creates it if it is missing.
    private func authority() throws -> TestAuthority {
        do {
            return try TestAuthority(readOrCreatedIn: URL(fileURLWithPath: authorityPath))
        } catch let error where !(error is MintingError) {
            throw CommandError(
                "the test authority can't be written to `\(authorityPath)`; free some space, or make the folder writable"
            )
        }
    }

    /// Runs `work`, which writes a file. Its errors are replaced by a `CommandError`, which names the file and a fix.
    ///
    /// - Parameter what: what the file contains, such as `the clock`. The message begins with these words.
    private func write(_ what: String, to file: String, _ work: () throws -> Void) throws {
        do {
            try work()
        } catch {
            throw CommandError("\(what) can't be written to `\(file)`; free some space, or make the folder writable")
        }
    }
}
