package import Foundation

/// A key for the admin API, without its secret. The database stores a hash of the secret.
package struct StoredAdminKey: Sendable, Hashable {
    /// What a key may do.
    package enum Scope: String, Sendable, Hashable, CaseIterable {
        case admin
        case support
        case link
        case read
        /// Publishing policies and creating personas, such as on a build machine.
        case policy
    }

    /// The name of the key in the audit trail.
    package let name: String
    package let scope: Scope
    package let createdAt: Date
    package let revokedAt: Date?

    package init(name: String, scope: Scope, createdAt: Date, revokedAt: Date? = nil) {
        self.name = name
        self.scope = scope
        self.createdAt = createdAt.toMillisecond
        self.revokedAt = revokedAt?.toMillisecond
    }
}
