package import Foundation

/// A version of the policy that was in effect. It is kept permanently, because promises are evaluated under it.
package struct StoredPolicy: Sendable, Hashable {
    /// The version: 1 for the first policy, 2 for the next one.
    package let version: Int64
    package let sha256: [UInt8]
    /// Compact JSON, as `tenure policy compile` writes it.
    package let compiled: [UInt8]
    package let recordedAt: Date
}
