import Foundation
import LocalAppStore
import TenureMint
import TenureServer

/// The files that a service needs to use a scenario's local App Store: the test authority, the API key, the local
/// clock, and the admin key of the service.
struct ScenarioFolder {
    let path: String
    /// The key with which the service signs its tokens for the local App Store.
    let key: ServerAPIKey

    /// The path of the file with the local App Store's time.
    var clock: String { path + "/clock" }
    var adminKeyFile: String { path + "/admin-key" }
    private var authorityPath: String { path + "/authority" }
    private var privateKeyFile: String { path + "/SubscriptionKey.p8" }

    /// Creates missing files, keeps existing ones, and sets the clock. The API key is always the one that `seed` gives.
    ///
    /// - Parameter authority: the test authority to save in the folder if the folder has none. If it is nil, a new one
    ///   is created.
    init(at path: String, seed: String, now: Date, authority: TestAuthority? = nil) throws {
        self.path = path
        let files = FileManager.default
        try makeFolder(path, attributes: [.posixPermissions: 0o700], or: "choose another one")
        let folder = URL(fileURLWithPath: path + "/authority")
        if let authority, !files.fileExists(atPath: folder.path + "/roots.pem") { try authority.save(to: folder) }
        _ = try TestAuthority(readOrCreatedIn: folder)
        key = try ServerAPIKey(seed: seed)
        try SecretFile(path: privateKeyFile).replace(with: Array(key.pem.utf8))
        _ = try SecretFile(path: adminKeyFile).contents { Array(KeySecret().text.utf8) }
        try FileClock.set(clock, to: now)
    }

    /// Creates a temporary folder, which the caller removes after the scenario.
    static func temporary(_ state: AppStoreState, authority: TestAuthority) throws -> ScenarioFolder {
        let path = NSTemporaryDirectory() + "tenure-rehearsal-\(UUID().uuidString)"
        do {
            return try ScenarioFolder(at: path, seed: state.seed, now: state.now, authority: authority)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Deletes the folder.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the options with which `tenure serve` uses these files and the local App Store on the port. The policy,
    /// the service's port and the database are missing.
    func settings(localStorePort: Int) -> [(option: String, value: String)] {
        let store = "http://127.0.0.1:\(localStorePort)"
        let values: [(Setting, String)] = [
            (.trust, authorityPath), (.clock, clock), (.adminKeyFile, adminKeyFile), (.issuerID, key.issuerID),
            (.keyID, key.keyID), (.privateKeyFile, privateKeyFile), (.productionHost, store), (.sandboxHost, store),
        ]
        return values.map { ($0.flag, $1) }
    }
}
