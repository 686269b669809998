import Crypto
package import TenureAppStore
import TenureCore
import TenurePolicyFile
package import TenureStore

/// Checks a whole database, for `tenure database check`: its integrity, the references between rows, each artifact's
/// signature, and whether the artifacts prove each customer's stored facts. The facts are what decisions need, computed
/// from the artifacts and stored with the customer.
package struct DatabaseCheck {
    /// How many customers and artifacts were checked, and how many problems were found.
    package struct Outcome: Sendable, Hashable {
        /// The number of checked customers, including those merged into others.
        package var customers: Int64 = 0
        /// The number of checked artifacts.
        package var artifacts = 0
        /// The number of problems.
        package var findings = 0
    }

    private let transaction: DatabaseTransaction
    private let trust: TrustConfiguration
    /// Passes a finding to the caller of `run`.
    private let send: (DatabaseFinding) -> Void
    private var outcome = Outcome()

    /// Checks one snapshot of the database, while the service continues to write. Throws if the database fails.
    ///
    /// - Parameters:
    ///   - trust: The trust anchors of the service that filled the database.
    ///   - progress: Called with the number of customers checked so far, and of all customers.
    ///   - report: Called with each finding.
    package static func run(
        on store: Store, trust: TrustConfiguration, progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in },
        report: @escaping @Sendable (DatabaseFinding) -> Void
    ) async throws(StoreError) -> Outcome {
        try await store.database.read { session throws(StoreError) in
            var check = DatabaseCheck(transaction: DatabaseTransaction(session), trust: trust, send: report)
            try check.run(progress)
            return check.outcome
        }
    }

    private mutating func report(_ finding: DatabaseFinding) {
        outcome.findings += 1
        send(finding)
    }

    private mutating func run(_ progress: (Int64, Int64) -> Void) throws(StoreError) {
        // The findings are collected first, because a closure can't call `report`, which changes `self`.
        var integrityFindings: [DatabaseFinding] = []
        try transaction.checkIntegrity { integrityFindings.append($0) }
        for finding in integrityFindings { report(finding) }
        let policies = try transaction.policies()
        for policy in policies { check(policy) }
        let derivation = Derivation(trust: trust, policies: policies)
        let total = try transaction.customerCount()
        var lastNumber = Int64.min
        while case let batch = try transaction.allCustomers(after: lastNumber, limit: 200), !batch.isEmpty {
            for customer in batch {
                lastNumber = customer.number
                try check(customer.number, customer.publicID, isLiving: customer.isLiving, derivation)
                outcome.customers += 1
                progress(outcome.customers, total)
            }
        }
    }

    /// Checks a version of the policy.
    private mutating func check(_ policy: StoredPolicy) {
        if Array(SHA256.hash(data: policy.compiled)) != policy.sha256 {
            report(DatabaseFinding("policy \(policy.version) was changed after it was stored", .restore))
        } else if (try? PolicyFile.read(policy.compiled, named: "policy")) == nil {
            report(DatabaseFinding("policy \(policy.version) can't be read", .restore))
        }
    }

    /// Checks one customer: the row of `customers`, and the customer's other rows. A customer who was merged into
    /// another customer (`isLiving` is false) has no facts, so only the row of `customers` is checked.
    ///
    /// Each finding says what the operator should do: restore a backup, rebuild the facts, or pass the right trust
    /// anchors.
    ///
    /// - Parameter number: The customer's row ID.
    private mutating func check(
        _ number: Int64, _ publicID: String, isLiving: Bool, _ derivation: Derivation
    ) throws(StoreError) {
        // What the operator should do about damage that the next step finds.
        var remedy = isLiving ? DatabaseFinding.Remedy.rebuild : .restore
        do throws(StoreError) {
            // Can the customer's row be read?
            try transaction.readRow(of: number)
            guard isLiving else { return }
            // Can all rows about the customer be read?
            remedy = .restore
            guard let rows = try transaction.rows(of: number) else { return }
            // Check that no artifact was changed after it was stored.
            outcome.artifacts += rows.artifacts.count
            for (index, entry) in rows.artifacts.enumerated() where !entry.artifact.hasItsDigest {
                let detail = "artifact \(index + 1) (\(entry.artifact.kind)) was changed after it was stored"
                report(DatabaseFinding(detail, of: publicID, .restore))
            }
            // Do the artifacts prove the stored facts?
            remedy = .trust
            let differences = try derivation.facts(of: rows).differences(from: rows.customer.facts)
            guard !differences.isEmpty else { return }
            let names = differences.joined(separator: ", ")
            let detail = "the stored facts differ from the facts that the artifacts prove (\(names))"
            report(DatabaseFinding(detail, of: publicID, .rebuild))
        } catch {
            guard case .damaged(let detail) = error else { throw error }
            report(DatabaseFinding(detail, of: publicID, remedy))
        }
    }
}

extension Artifact {
    /// Whether the signed part of the artifact still has the hash that was stored with the artifact.
    var hasItsDigest: Bool {
        if kind == .receipt {
            guard let content = UnverifiedReceipt.content(of: bytes) else { return false }
            return Array(SHA256.hash(data: content)) == sha256
        }
        // RFC 7515: the signature covers everything before the second period.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return Array(SHA256.hash(data: bytes[..<end])) == sha256
    }
}

extension CustomerFacts {
    /// Returns the names of the parts in which these facts differ from `otherFacts`, for a message.
    fileprivate func differences(from otherFacts: CustomerFacts) -> [String] {
        var names: [String] = []
        if proofs != otherFacts.proofs { names.append("proofs of the app") }
        if purchases != otherFacts.purchases { names.append("purchases") }
        if renewals != otherFacts.renewals { names.append("renewals") }
        if purchasesAreComplete != otherFacts.purchasesAreComplete { names.append("whether all purchases are known") }
        if isUnbound != otherFacts.isUnbound { names.append("whether the customer is unbound") }
        if promises != otherFacts.promises { names.append("promises") }
        if support != otherFacts.support { names.append("grants and revocations") }
        return names
    }
}
