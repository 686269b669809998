package import Foundation

/// A version of the policy under which this service once ran: promises are judged by it for ever.
package struct StoredPolicy: Sendable, Hashable {
    /// Counts from 1, in the order in which the service met them.
    package let version: Int64
    package let sha256: [UInt8]
    /// Compact JSON, as `tenure policy compile` writes it.
    package let compiled: [UInt8]
    package let recordedAt: Date

    package init(version: Int64, sha256: [UInt8], compiled: [UInt8], recordedAt: Date) {
        self.version = version
        self.sha256 = sha256
        self.compiled = compiled
        self.recordedAt = recordedAt
    }
}
