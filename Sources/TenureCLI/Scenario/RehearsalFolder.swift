import Foundation
import LocalAppStore
import TenureMint
import TenureServer

/// What a service needs in order to go by a local App Store: whom to trust, a key with which to ask, the world's clock,
/// and the key of its own admin interface.
struct RehearsalFolder {
    let path: String
    let authority: TestAuthority
    /// With which the service signs its tokens for the store.
    let key: ServerAPIKey

    var clock: String { path + "/clock" }
    var adminKeyFile: String { path + "/admin-key" }
    private var authorityPath: String { path + "/authority" }
    private var privateKeyFile: String { path + "/SubscriptionKey.p8" }

    /// What is missing is made, what is there is kept; the clock is set. `authority`: of a folder that has none yet;
    /// nil: a new one.
    init(at path: String, seed: String, now: Date, authority: TestAuthority? = nil) throws {
        self.path = path
        let files = FileManager.default
        do {
            try files.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError("the folder `\(path)` cannot be made; choose another, or make it writable")
        }
        let folder = URL(fileURLWithPath: path + "/authority")
        if files.fileExists(atPath: folder.path + "/roots.pem") {
            self.authority = try TestAuthority(directory: folder)
        } else {
            self.authority = try authority ?? TestAuthority(seed: seed)
            try self.authority.save(to: folder)
        }
        key = try ServerAPIKey(seed: seed)
        try SecretFile(path: privateKeyFile).replace(with: Array(key.pem.utf8))
        _ = try SecretFile(path: adminKeyFile).contents { Array(KeySecret().text.utf8) }
        try RehearsalClock.set(clock, to: now)
    }

    /// One that goes when the rehearsal is over.
    static func temporary(_ world: World, authority: TestAuthority) throws -> RehearsalFolder {
        let path = NSTemporaryDirectory() + "tenure-rehearsal-\(UUID().uuidString)"
        do {
            return try RehearsalFolder(at: path, seed: world.seed, now: world.now, authority: authority)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Options of `tenure serve`, beside the policy, the port and the record.
    func settings(storePort: Int) -> [(option: String, value: String)] {
        let store = "http://127.0.0.1:\(storePort)"
        let values: [(Setting, String)] = [
            (.trust, authorityPath), (.clock, clock), (.adminKeyFile, adminKeyFile), (.issuerID, key.issuerID),
            (.keyID, key.keyID), (.privateKeyFile, privateKeyFile), (.productionHost, store), (.sandboxHost, store),
        ]
        return values.map { ($0.flag, $1) }
    }
}
