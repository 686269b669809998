package import Foundation

/// A version of the policy that was in effect. The database keeps all versions, because a promise (`StoredPromise`) is
/// evaluated under the version that made it.
package struct StoredPolicy: Sendable, Hashable {
    /// The version: 1 for the first policy, 2 for the second policy.
    package let version: Int64
    /// The hash that identifies the policy.
    package let sha256: [UInt8]
    /// The policy as compact JSON, as `tenure policy compile` writes it.
    package let compiled: [UInt8]
    /// When the version was first published.
    package let recordedAt: Date
}
