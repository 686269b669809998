import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TenureAPI
import TenureStore

/// Who holds a key, by the name that the audit trail has.
struct KeyHolder: Sendable, Hashable {
    let name: String
    let scope: RecordedKey.Scope
}

/// Opens the admin interface to `Authorization: Bearer …` with a key that is good now, and may do what is asked.
package struct KeyGate: Sendable {
    private let store: any Store
    private let configured: SHA256Digest?
    private let now: @Sendable () -> Date
    private let tries = FailedTries()

    /// As the audit trail calls the key of the configuration.
    package static let configuredName = "adminKey"

    init(store: any Store, configuredKey: String?, now: @escaping @Sendable () -> Date) {
        self.store = store
        configured = configuredKey.map { KeySecret($0).digest }
        self.now = now
    }

    /// Throws `notAuthenticated`, `tooManyRequests`, or `forbidden`, which leaves a line in the audit trail.
    func holder(
        of request: Request, _ context: ServiceContext, needing right: Right, on customer: String? = nil
    ) async throws -> KeyHolder {
        let now = now()
        let address = FailedTries.name(of: context.peer)
        // Before anything is looked up: whoever guesses learns nothing for a while.
        try tries.check(address, now: now)
        guard let secret = Self.bearer(of: request), let holder = try await holder(of: secret) else {
            let count = tries.add(address, now: now)
            context.logger.warning(
                "wrong key", metadata: ["address": "\(address)", "count": "\(count)", "right": "\(right.rawValue)"])
            throw Problem(.notAuthenticated, "the key is missing, wrong or revoked; send `Authorization: Bearer …`")
        }
        guard holder.scope.rights.contains(right) else {
            try await store.audit(
                AuditEntry(
                    at: now, actor: holder.name, act: right.rawValue, customer: customer,
                    detail: ["refused": Problem.Code.forbidden.rawValue]))
            throw Problem(.forbidden, "a key of scope `\(holder.scope.rawValue)` may not do this")
        }
        return holder
    }

    private func holder(of secret: KeySecret) async throws(StoreError) -> KeyHolder? {
        // Crypto compares digests in constant time.
        if let configured, secret.digest == configured { return KeyHolder(name: Self.configuredName, scope: .admin) }
        return try await store.key(withSecret: secret.hash).map { KeyHolder(name: $0.name, scope: $0.scope) }
    }

    private static func bearer(of request: Request) -> KeySecret? {
        // Longer ones are no keys, and not worth hashing.
        guard let key = request.bearer, key.count <= longest else { return nil }
        return KeySecret(String(decoding: key, as: UTF8.self))
    }

    private static let longest = 1017
}
