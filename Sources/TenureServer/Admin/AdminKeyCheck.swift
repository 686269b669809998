import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureCore
import TenureStore

/// Checks that `Authorization: Bearer …` contains a valid admin key with the needed right.
package struct AdminKeyCheck: Sendable {
    let store: Store
    /// The key in the file of the setting `adminKeyFile`; nil without this setting. All other keys are in the database.
    let configuredKey: AdminKey?
    let now: @Sendable () -> Date
    private let wrongKeys = WrongKeyLimit()

    /// The name of the configured admin key in the audit trail.
    package static let configuredName = "adminKey"

    /// Returns the name of the request's admin key for the audit trail, after checking that the key has the needed
    /// right.
    ///
    /// Throws `notAuthenticated` for a missing or wrong key, and `tooManyRequests` after many wrong keys. Throws
    /// `forbidden` if the key's scope (its set of rights) lacks the right, and writes the refusal to the audit trail.
    ///
    /// - Parameter customer: The public ID of the customer whom the request is about, for the audit trail.
    func keyName(
        of request: Request, _ context: ServiceContext, needing right: AdminRight, on customer: String? = nil
    ) async throws -> String {
        let now = now()
        let address = WrongKeyLimit.countedAddress(of: context.peer)
        // A request without a key isn't counted as a wrong key. Otherwise, a browser or a monitoring probe could use up
        // the limit of its address.
        guard request.hasAuthorization else {
            throw Problem(.notAuthenticated, "the admin key is missing; send it as `Authorization: Bearer …`")
        }
        // A valid key always works, even after wrong keys from the same address.
        guard let secret = request.adminKey, let key = try await key(with: secret) else {
            try wrongKeys.check(address, now: now)
            let count = wrongKeys.countWrongKey(from: address, now: now)
            context.logger.warning(
                "a request had a wrong admin key",
                metadata: ["address": "\(address)", "count": "\(count)", "right": "\(right.rawValue)"])
            throw Problem(.notAuthenticated, "the admin key is wrong or revoked; send a valid key")
        }
        guard key.scope.rights.contains(right) else {
            let entry = AuditEntry(
                at: now, actor: key.name, action: right.rawValue, customer: customer,
                detail: ["refused": Problem.Code.forbidden.rawValue])
            try await store.write { try $0.audit(entry) }
            let scopes = StoredAdminKey.Scope.allCases.filter { $0.rights.contains(right) }.map { "`\($0.rawValue)`" }
            throw Problem(
                .forbidden,
                "a key of scope `\(key.scope.rawValue)` isn't allowed to send this request; use a key of scope "
                    + scopes.joined(separator: " or "))
        }
        return key.name
    }

    /// Returns the name and scope of a key; nil if it is neither the configured key nor a valid key in the database.
    private func key(with secret: KeySecret) async throws(StoreError) -> (name: String, scope: StoredAdminKey.Scope)? {
        if let configuredKey, configuredKey.matches(secret) { return (Self.configuredName, .admin) }
        return try await store.read { try $0.key(withSecret: secret.hash) }.map { ($0.name, $0.scope) }
    }
}
