/// Checks a database for `tenure database check`, and reports damage and rows that contradict each other. Doesn't
/// verify signatures.
struct DatabaseIntegrity {
    let session: any DatabaseSession
    /// Called with each problem.
    let report: (DatabaseFinding) -> Void

    /// The maximum number of findings of one kind, so that one broken page doesn't fill the screen.
    private static let limitPerKind = 100
    /// The number of merged customers that one query reads.
    private static let pageSize = 500

    func check() throws(StoreError) {
        try checkDatabase()
        try checkReferences()
        try checkIdentities()
        try checkMerges()
        try checkHeaders()
        try checkAudit()
    }

    /// Checks the file of an SQLite database, or the constraints and indexes of a PostgreSQL database.
    private func checkDatabase() throws(StoreError) {
        switch session.dialect {
        case .sqlite:
            for complaint in try session.texts("PRAGMA integrity_check(\(Self.limitPerKind))") where complaint != "ok" {
                report(DatabaseFinding("SQLite says: \(complaint)", .restore))
            }
        case .postgres:
            let constraints = try session.texts(
                """
                SELECT conname::text FROM pg_constraint
                WHERE NOT convalidated AND connamespace = current_schema()::regnamespace
                """)
            for name in constraints { report(DatabaseFinding("the constraint `\(name)` isn't valid", .restore)) }
            let indexes = try session.texts(
                """
                SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
                """)
            for name in indexes { report(DatabaseFinding("the index `\(name)` isn't valid", .reindex)) }
        }
    }

    /// Checks that every row that a column refers to exists.
    private func checkReferences() throws(StoreError) {
        let tables = try DatabaseTable.all()
        for table in tables {
            for column in table.columns {
                guard let parent = tables.first(where: { $0.name == column.references }), parent.key.count == 1
                else { continue }
                let key = parent.columns[parent.key[0]].name
                let rows = try session.rows(
                    """
                    SELECT child."\(column.name)", count(*) FROM \(table.name) child
                    LEFT JOIN \(parent.name) parent ON parent."\(key)" = child."\(column.name)"
                    WHERE child."\(column.name)" IS NOT NULL AND parent."\(key)" IS NULL
                    GROUP BY child."\(column.name)" ORDER BY child."\(column.name)" LIMIT \(Self.limitPerKind)
                    """)
                for row in rows {
                    let missing = "row \(try row.integer(0)) of `\(parent.name)`, which doesn't exist"
                    let problem = "`\(table.name)` refers to \(missing) (affected rows: \(try row.integer(1)))"
                    report(DatabaseFinding(problem, .restore))
                }
            }
        }
    }

    /// Checks that each identity has a known kind, and belongs to the realm of its customer: the environment and signer
    /// of the customer's artifacts.
    private func checkIdentities() throws(StoreError) {
        func identities(where condition: String) throws(StoreError) -> [SQLRow] {
            try session.rows(
                """
                SELECT public_id, kind, value FROM identities JOIN customers ON customers.id = identities.customer
                WHERE \(condition) ORDER BY customers.id LIMIT \(Self.limitPerKind)
                """)
        }
        for row in try identities(where: "identities.realm <> customers.realm") {
            let problem = "the identity `\(try row.text(2))` is from another environment or signer than the customer"
            report(DatabaseFinding(problem, of: try row.text(0), .inspect))
        }
        let kinds = Identity.Kind.allCases.map { String($0.rawValue) }.joined(separator: ", ")
        for row in try identities(where: "kind NOT IN (\(kinds))") {
            let problem = "the identity `\(try row.text(2))` has the unknown kind \(try row.integer(1))"
            report(DatabaseFinding(problem, of: try row.text(0), .inspect))
        }
    }

    /// Checks that each merged customer leads to an existing customer of the same realm.
    ///
    /// Skips customers that are being erased: each of them is merged into itself until its last row is removed. If an
    /// erasure was interrupted, the next start of the service finishes it.
    private func checkMerges() throws(StoreError) {
        var last = Int64.min
        var findings = 0
        while true {
            let rows = try session.rows(
                """
                SELECT id, public_id, realm FROM customers
                WHERE id > $1 AND merged_into IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM unfinished_updates
                    WHERE customer = customers.id AND update_id = \(DatabaseTransaction.erasureUpdateID)
                ) ORDER BY id LIMIT \(Self.pageSize)
                """, [.integer(last)])
            for row in rows {
                last = try row.integer(0)
                guard let problem = try problem(ofMerged: last, in: try row.integer(2)) else { continue }
                report(DatabaseFinding(problem, of: try row.text(1), .inspect))
                findings += 1
                if findings == Self.limitPerKind { return }
            }
            if rows.count < Self.pageSize { return }
        }
    }

    /// Follows the merges from a customer, from each row to the row that it was merged into. Returns what is wrong; nil
    /// if the merges end at a customer of the same realm.
    private func problem(ofMerged id: Int64, in realm: Int64) throws(StoreError) -> String? {
        var checkedIDs: Set<Int64> = []
        var next = id
        while checkedIDs.insert(next).inserted {
            guard let row = try session.row("SELECT merged_into, realm FROM customers WHERE id = $1", [.integer(next)])
            else { return "it was merged into a customer who doesn't exist, so its identities lead to no customer" }
            guard try row.integer(1) == realm
            else { return "it was merged into a customer from another environment or signer" }
            guard let into = try row.integerIfPresent(0) else { return nil }
            next = into
        }
        return "it was merged in a circle, so its identities lead to no customer"
    }

    /// Checks that every artifact that is a JWS has its header, which the table `headers` stores. Receipts have none.
    private func checkHeaders() throws(StoreError) {
        let rows = try session.rows(
            """
            SELECT public_id, count(*) FROM artifacts JOIN customers ON customers.id = artifacts.customer
            WHERE header IS NULL AND kind <> \(Artifact.Kind.receipt.rawValue)
            GROUP BY public_id ORDER BY public_id LIMIT \(Self.limitPerKind)
            """)
        for row in rows {
            let problem = "some artifacts have no header with certificates (affected artifacts: \(try row.integer(1)))"
            report(DatabaseFinding(problem, of: try row.text(0), .restore))
        }
    }

    /// Checks that the two triggers exist that keep the audit trail append-only.
    private func checkAudit() throws(StoreError) {
        let triggers =
            switch session.dialect {
            case .sqlite: "sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'"
            case .postgres: "pg_trigger WHERE tgrelid = 'audit'::regclass AND NOT tgisinternal AND tgenabled <> 'D'"
            }
        if try session.count("SELECT count(*) FROM \(triggers)") != 2 {
            report(DatabaseFinding("a trigger that keeps the audit trail append-only is missing", .restore))
        }
    }
}
