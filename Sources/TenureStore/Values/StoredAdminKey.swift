package import Foundation

/// A key for the admin API, without its secret. The database stores a hash of the secret.
package struct StoredAdminKey: Sendable, Hashable {
    /// What a key may do.
    package enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Everything.
        case admin
        /// Reading, granting, revoking, linking, merging and exporting customers.
        case support
        /// Only linking customers to users of the app, as the app's own server does.
        case link
        /// Only reading.
        case read
        /// Publishing policies and creating personas, such as on a build machine.
        case policy
    }

    /// The name of the key in the audit trail.
    package let name: String
    package let scope: Scope
    package let createdAt: Date
    /// When the key was revoked; nil if it is valid.
    package let revokedAt: Date?

    package init(name: String, scope: Scope, createdAt: Date, revokedAt: Date? = nil) {
        self.name = name
        self.scope = scope
        self.createdAt = createdAt.toMillisecond
        self.revokedAt = revokedAt?.toMillisecond
    }
}
