/// Stores and reads the versions of the policy.
extension DatabaseTransaction {
    /// Stores a compiled policy, unless it is stored already. Returns all policies.
    package func record(policy compiled: [UInt8], sha256: [UInt8]) throws(StoreError) -> [StoredPolicy] {
        // Without `ON CONFLICT`, because a refused row would use up a version number.
        let known = try session.row("SELECT 1 FROM policies WHERE sha256 = $1", [.blob(sha256)])
        if known == nil {
            let row = try session.row(
                "INSERT INTO policies (sha256, compiled, recorded_at) VALUES ($1, $2, $3) RETURNING version",
                [.blob(sha256), .blob(compiled), milliseconds])
            guard row != nil else { throw .defect("a policy got no version") }
        }
        return try policies()
    }

    package func policies() throws(StoreError) -> [StoredPolicy] {
        try session.rows("SELECT version, sha256, compiled, recorded_at FROM policies ORDER BY version").map {
            row throws(StoreError) in
            StoredPolicy(
                version: try row.integer(0), sha256: try row.bytes(1), compiled: try row.bytes(2),
                recordedAt: try row.instant(3))
        }
    }
}
