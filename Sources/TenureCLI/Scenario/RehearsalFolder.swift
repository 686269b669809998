import Foundation
import LocalAppStore
import TenureMint
import TenureServer

/// What a service needs in order to go by a local App Store, in a folder that goes when the rehearsal is over.
struct RehearsalFolder {
    let path: String
    let key: ServerAPIKey

    var clock: String { path + "/clock" }
    private var authority: String { path + "/authority" }
    private var privateKey: String { path + "/SubscriptionKey.p8" }
    private var adminKey: String { path + "/admin-key" }

    init(_ founding: Founding, authority: TestAuthority) throws {
        path = NSTemporaryDirectory() + "tenure-rehearsal-\(UUID().uuidString)"
        key = try ServerAPIKey(seed: founding.seed)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        do {
            try authority.save(to: URL(fileURLWithPath: self.authority))
            try Data(key.pem.utf8).write(to: URL(fileURLWithPath: privateKey))
            try Data((UUID().uuidString + UUID().uuidString).utf8).write(to: URL(fileURLWithPath: adminKey))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: privateKey)
            try RehearsalClock.set(clock, to: founding.now)
        } catch {
            remove()
            throw error
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Of `tenure serve`, beside the policy and the port.
    func settings(storePort: Int) -> [String] {
        let store = "http://127.0.0.1:\(storePort)"
        return [
            "--database", path + "/record.sqlite", "--trust", authority, "--clock", clock,
            "--admin-key-file", adminKey,
            "--app-store-issuer-id", key.issuerID, "--app-store-key-id", key.keyID,
            "--app-store-private-key-file", privateKey,
            "--app-store-hosts-production", store, "--app-store-hosts-sandbox", store,
        ]
    }
}
