import CommandRunner
import Foundation
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `checking a database` {
    @Test func `checking a healthy database finds no problems`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let findings = try await DatabaseTestBed.findings(store)
            #expect(findings == [])
        }
    }

    /// Statements that damage a database, and the problem that the check must report.
    struct Damage: Sendable, CustomStringConvertible {
        let description: String
        let sql: [String]
        let words: String
        let remedy: DatabaseFinding.Remedy
        let namesCustomer: Bool

        init(_ sql: String..., finding words: String, _ remedy: DatabaseFinding.Remedy, namesCustomer: Bool = true) {
            description = sql.joined(separator: "; ")
            self.sql = sql
            self.words = words
            self.remedy = remedy
            self.namesCustomer = namesCustomer
        }
    }

    @Test(arguments: [
        Damage("UPDATE customers SET facts = x'0102' WHERE id = 1", finding: "are invalid at byte", .rebuild),
        Damage(
            "UPDATE customers SET facts = (SELECT facts FROM customers WHERE id = 3) WHERE id = 1",
            finding: "differ from the facts that the artifacts prove (proofs of the app", .rebuild),
        Damage(
            "DELETE FROM promises WHERE customer = 1",
            finding: "differ from the facts that the artifacts prove (promises)", .rebuild),
        Damage(
            "DELETE FROM support_grants WHERE id = 1",
            finding: "differ from the facts that the artifacts prove (grants and revocations)", .rebuild),
        Damage("UPDATE customers SET realm = 77 WHERE id = 1", finding: "a row has the unknown realm 77", .rebuild),
        Damage(
            "UPDATE customers SET merged_into = 1 WHERE id = 3", "UPDATE customers SET merged_into = 3 WHERE id = 1",
            finding: "merged in a circle", .inspect),
        Damage(
            "UPDATE customers SET merged_into = 1, realm = 1 WHERE id = 3",
            finding: "merged into a customer from another environment or signer", .inspect),
        Damage(
            "PRAGMA defer_foreign_keys = ON", "UPDATE customers SET merged_into = id WHERE id = 1",
            finding: "merged in a circle", .inspect),
        Damage(
            "UPDATE artifacts SET bytes = CAST(bytes || x'41' AS BLOB) WHERE id = 1", finding: "can't be verified",
            .trust),
        Damage(
            "UPDATE artifacts SET sha256 = x'00' WHERE id = 1", finding: "was changed after it was stored", .restore),
        // The second and the third artifact of the first customer.
        Damage(
            """
            UPDATE artifacts SET sha256 = x'00' WHERE id =
            (SELECT id FROM artifacts WHERE customer = 1 ORDER BY id LIMIT 1 OFFSET 1)
            """, finding: "artifact 2 (transaction) was changed after it was stored", .restore),
        Damage(
            """
            UPDATE artifacts SET bytes = CAST(bytes || x'41' AS BLOB) WHERE id =
            (SELECT id FROM artifacts WHERE customer = 1 ORDER BY id LIMIT 1 OFFSET 2)
            """, finding: "artifact 3 (transaction) of cus_", .trust),
        Damage("UPDATE artifacts SET header = NULL WHERE id = 1", finding: "no header", .restore),
        Damage("UPDATE artifacts SET kind = 9 WHERE id = 1", finding: "unknown kind of artifact 9", .restore),
        Damage(
            "UPDATE identities SET realm = 1 WHERE kind = 1 AND customer = 1", finding: "is from another environment",
            .inspect),
        Damage(
            "UPDATE identities SET kind = 99 WHERE kind = 1 AND customer = 1", finding: "has the unknown kind 99",
            .inspect),
        Damage(
            "UPDATE support_grants SET kind = 'gift' WHERE id = 1",
            finding: "a support grant has the unknown kind `gift`", .restore),
        Damage(
            "UPDATE events SET detail = '[' WHERE id = 1", finding: "isn't a JSON object with string values",
            .restore),
        Damage(
            "UPDATE policies SET compiled = x'7b7d' WHERE version = 1", finding: "was changed after it was stored",
            .restore,
            namesCustomer: false),
        Damage(
            "UPDATE policies SET compiled = x'7b7d' WHERE version = 2",
            finding: "policy 2 was changed after it was stored", .restore, namesCustomer: false),
        // The digest is that of the bytes, so another program stored an empty policy.
        Damage(
            """
            UPDATE policies SET compiled = x'7b7d',
            sha256 = x'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' WHERE version = 1
            """,
            finding: "policy 1 can't be read", .restore, namesCustomer: false),
        Damage("DROP TRIGGER audit_stays", finding: "append-only", .restore, namesCustomer: false),
        Damage("DROP TRIGGER audit_stays_whole", finding: "append-only", .restore, namesCustomer: false),
    ])
    func `checking a damaged database reports each problem and its remedy`(damage: Damage) async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let names = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT public_id FROM customers WHERE id IN (1, 2, 3)").map {
                    row throws(StoreError) in try row.text(0)
                }
            }
            _ = try await store.database.write(locking: []) { session throws(StoreError) in
                for statement in damage.sql { try session.execute(statement) }
            }
            let findings = try await DatabaseTestBed.findings(store)
            let finding = findings.first { $0.problem.contains(damage.words) && $0.remedy == damage.remedy }
            #expect(finding != nil, "\(findings)")
            if damage.namesCustomer { #expect(finding?.customer != nil) }
            if let customer = finding?.customer, !damage.sql[0].contains("support_grants") {
                #expect(names.contains(customer))
            }
        }
    }

    @Test func `checking a database names the parts in which a customer's facts differ from the artifacts`()
        async throws
    {
        try await DatabaseTestBed.withFilledStore { store in
            let facts = try #require(try await store.lookUp(1)).facts
            try #require(!facts.purchases.isEmpty && facts.support.isEmpty)
            func problems(_ changed: CustomerFacts) async throws -> [String] {
                let bytes = changed.encoded
                _ = try await store.database.write(locking: []) { session throws(StoreError) in
                    try session.execute("UPDATE customers SET facts = $1 WHERE id = 1", [.blob(bytes)])
                }
                return try await DatabaseTestBed.findings(store).map(\.problem)
            }
            func differ(_ parts: String) -> [String] {
                ["the stored facts differ from the facts that the artifacts prove (\(parts))"]
            }
            var changed = CustomerFacts()
            changed.add(facts.proofs)
            changed.add(facts.renewals)
            changed.add(facts.promises)
            changed.purchasesAreComplete = facts.purchasesAreComplete
            #expect(try await problems(changed) == differ("purchases"))
            changed.purchasesAreComplete.toggle()
            #expect(try await problems(changed) == differ("purchases, whether all purchases are known"))
            changed.isUnbound.toggle()
            let all = differ("purchases, whether all purchases are known, whether the customer is unbound")
            #expect(try await problems(changed).contains(all[0]))
            // A grace period that no artifact proves.
            changed = facts
            changed.add([
                Renewal(
                    originalTransactionID: "o", productID: "p", gracePeriodExpiresDate: Calculator.now,
                    isInBillingRetryPeriod: true, signedDate: Calculator.now)
            ])
            #expect(try await problems(changed) == differ("renewals"))
            #expect(try await problems(facts) == [])
        }
    }

    // SQLite enforces references only if a program asks for it.
    @Test func `checking a database finds rows that refer to a row that another program removed`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let count = try await store.database.read { session throws(StoreError) in
                try session.row("SELECT count(*) FROM promises WHERE policy = 1")?.integer(0) ?? 0
            }
            try await execute("DELETE FROM policies WHERE version = 1", in: store)
            let findings = try await DatabaseTestBed.findings(store)
            let words = "`promises` refers to row 1 of `policies`, which doesn't exist (affected rows: \(count))"
            #expect(count > 3)
            #expect(findings.contains { $0.problem == words && $0.remedy == .restore }, "\(findings)")
        }
    }

    @Test func `checking a database finds a customer who was merged into a customer that doesn't exist`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let name = try await store.database.read { session throws(StoreError) in
                try session.row("SELECT public_id FROM customers WHERE id = 1")?.text(0)
            }
            try await execute("UPDATE customers SET merged_into = 99999 WHERE id = 1", in: store)
            let findings = try await DatabaseTestBed.findings(store)
            let problem = "it was merged into a customer who doesn't exist, so its identities lead to no customer"
            let finding = try #require(findings.first { $0.problem == problem }, "\(findings)")
            #expect(finding.customer == name)
            #expect(finding.remedy == .inspect)
        }
    }

    @Test func `checking a database reports at most 100 customers with wrong merges`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            try await execute(
                """
                WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 101)
                INSERT INTO customers (realm, public_id, created_at, facts, merged_into)
                SELECT realm, 'cus_' || number, created_at, facts, 99999 FROM customers, numbers WHERE id = 1
                """, in: store)
            let findings = try await DatabaseTestBed.findings(store)
            let merges = findings.filter { $0.problem.hasPrefix("it was merged into a customer who doesn't exist") }
            #expect(merges.count == 100)
        }
    }

    /// Runs a statement as another program, which doesn't enforce references.
    private func execute(_ sql: String, in store: Store) async throws {
        let path = try await store.database.read { session throws(StoreError) in
            try session.row("SELECT file FROM pragma_database_list WHERE name = 'main'")?.text(0) ?? ""
        }
        let script = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.execute(sys.argv[2])
            connection.commit()
            """
        let result = try Tool.run("/usr/bin/env", ["python3", "-c", script, path, sql])
        try #require(result.status == 0, "\(result.errors)")
    }

    @Test func `checking a database with unrelated trust anchors reports that each artifact can't be verified`()
        async throws
    {
        try await DatabaseTestBed.withFilledStore { store in
            let apple = try TrustConfiguration(anchors: [.production: .apple, .sandbox: .apple])
            let findings = try await DatabaseTestBed.findings(store, trust: apple)
            #expect(findings.count > 10)
            #expect(findings.allSatisfy { $0.remedy == .trust && $0.problem.contains("can't be verified") })
        }
    }
}
