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
    private let configured: AdminKey?
    private let now: @Sendable () -> Date
    private let tries = FailedTries()

    /// As the audit trail calls the key of the configuration.
    package static let configuredName = "adminKey"

    init(store: any Store, configuredKey: String?, now: @escaping @Sendable () -> Date) {
        self.store = store
        configured = AdminKey(configuredKey)
        self.now = now
    }

    /// Throws `notAuthenticated`, `tooManyRequests`, or `forbidden`, which leaves a line in the audit trail.
    func holder(
        of request: Request, _ context: ServiceContext, needing right: Right, on customer: String? = nil
    ) async throws -> KeyHolder {
        let now = now()
        let address = FailedTries.name(of: context.peer)
        // Who shows no key guesses none: a browser or a probe must not lock out the people behind the same address.
        guard request.hasAuthorization else {
            throw Problem(.notAuthenticated, "the key is missing; send `Authorization: Bearer …`")
        }
        // A valid key opens whatever came from its address before.
        guard let secret = request.adminKey, let holder = try await holder(of: secret) else {
            try tries.check(address, now: now)
            let count = tries.add(address, now: now)
            context.logger.warning(
                "wrong key", metadata: ["address": "\(address)", "count": "\(count)", "right": "\(right.rawValue)"])
            throw Problem(.notAuthenticated, "the key is wrong or revoked; send another one")
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
        if let configured, configured.opens(secret) { return KeyHolder(name: Self.configuredName, scope: .admin) }
        return try await store.key(withSecret: secret.hash).map { KeyHolder(name: $0.name, scope: $0.scope) }
    }
}
