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

/// Stores and reads the versions of the policy.
extension DatabaseTransaction {
    /// Returns the number of a policy's version. A policy that isn't stored yet is stored with the next number.
    ///
    /// - Parameters:
    ///   - compiled: the policy in compact JSON, as `tenure policy compile` writes it.
    ///   - sha256: the hash that identifies the policy.
    package func record(policy compiled: [UInt8], sha256: [UInt8]) throws(StoreError) -> Int64 {
        // Without `ON CONFLICT`, because a refused row would use up a version number.
        let known = try session.integers("SELECT version FROM policies WHERE sha256 = $1", [.blob(sha256)]).first
        if let known { return known }
        let new = try session.integers(
            "INSERT INTO policies (sha256, compiled, recorded_at) VALUES ($1, $2, $3) RETURNING version",
            [.blob(sha256), .blob(compiled), milliseconds]
        ).first
        guard let new else { throw .defect("a policy got no version") }
        return new
    }

    /// All versions of the policy, the oldest first.
    package func policies() throws(StoreError) -> [StoredPolicy] {
        try session.rows("SELECT version, sha256, compiled, recorded_at FROM policies ORDER BY version").map {
            row throws(StoreError) in
            StoredPolicy(
                version: try row.integer(0), sha256: try row.bytes(1), compiled: try row.bytes(2),
                recordedAt: try row.instant(3))
        }
    }
}
