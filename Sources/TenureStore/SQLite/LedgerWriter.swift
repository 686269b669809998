import Foundation
import GRDB
import TenureCore

/// Appends to the ledger and keeps what it proves in step, inside one transaction.
struct LedgerWriter {
    let db: Database
    let now: Date

    func amend<Outcome>(
        _ identities: [Identity], in realm: Realm, adopting: (Customer) -> Bool,
        _ change: (Customer?) -> (Amendment, Outcome)
    ) throws -> (Customer, Outcome) {
        let known = try find(identities, in: realm, adopting: adopting)
        let (amendment, outcome) = change(known)
        let customer = try known.map { try update($0, to: amendment.facts) } ?? create(amendment.facts, in: realm)
        for identity in identities + amendment.identities { try insert(identity, of: customer) }
        try insert(amendment.artifacts, of: customer)
        for promise in amendment.promises { try insert(promise, of: customer) }
        return (customer, outcome)
    }

    func record(_ act: SupportAct, for id: Int64) throws -> Customer? {
        guard let known = try customer(id) else { return nil }
        // In the ledger's precision, so that what is derived anew equals what stands here.
        let act = SupportAct(
            act.kind, of: act.entitlement, date: act.date.toMillisecond, until: act.until?.toMillisecond)
        var facts = known.facts
        facts.add(act)
        guard facts != known.facts else { return known }
        try execute(
            "INSERT INTO support_acts (customer, entitlement, kind, at, until) VALUES (?, ?, ?, ?, ?)",
            [id, act.entitlement, act.kind.rawValue, act.date.millisecondsSince1970, act.until?.millisecondsSince1970])
        return try update(known, to: facts)
    }

    func record(policy compiled: [UInt8], sha256: [UInt8]) throws {
        // Not `INSERT OR IGNORE`: a refused row would use up a version.
        guard try Int.fetchOne(db, sql: "SELECT 1 FROM policies WHERE sha256 = ?", arguments: [Data(sha256)]) == nil
        else { return }
        try execute(
            "INSERT INTO policies (sha256, compiled, recorded_at) VALUES (?, ?, ?)",
            [Data(sha256), Data(compiled), now.millisecondsSince1970])
    }

    // MARK: Customers

    private func find(
        _ identities: [Identity], in realm: Realm, adopting: (Customer) -> Bool
    ) throws -> Customer? {
        let byStrength = identities.sorted { $0.kind < $1.kind }
        for identity in byStrength {
            let sql = "SELECT customer FROM identities WHERE realm = ? AND kind = ? AND value = ?"
            guard
                let id = try Int64.fetchOne(
                    db.cachedStatement(sql: sql),
                    arguments: [realm.code, identity.kind.rawValue, identity.value])
            else { continue }
            // An app transaction's id is one account's. One that nobody knows is no word about somebody with another,
            // though they share a device.
            if identity.kind != .appTransactionID, byStrength.first?.kind == .appTransactionID,
                try hasAppTransactionID(id)
            {
                continue
            }
            let found = try customer(id)
            if let found, identity.kind != .appTransactionID, !adopting(found) { continue }
            return found
        }
        return nil
    }

    private func hasAppTransactionID(_ customer: Int64) throws -> Bool {
        let sql = "SELECT 1 FROM identities WHERE customer = ? AND kind = ?"
        let arguments: StatementArguments = [customer, Identity.Kind.appTransactionID.rawValue]
        return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: arguments) != nil
    }

    private func customer(_ id: Int64) throws -> Customer? {
        try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM customers WHERE id = ?"), arguments: [id])
            .map { try Customer($0) }
    }

    private func create(_ facts: CustomerFacts, in realm: Realm) throws -> Customer {
        let publicID = Customer.newPublicID()
        try execute(
            "INSERT INTO customers (realm, public_id, created_at, facts) VALUES (?, ?, ?, ?)",
            [realm.code, publicID, now.millisecondsSince1970, Data(facts.encoded)])
        return Customer(
            id: db.lastInsertedRowID, realm: realm, publicID: publicID, createdAt: now.toMillisecond, facts: facts)
    }

    private func update(_ customer: Customer, to facts: CustomerFacts) throws -> Customer {
        guard facts != customer.facts else { return customer }
        try execute("UPDATE customers SET facts = ? WHERE id = ?", [Data(facts.encoded), customer.id])
        return Customer(
            id: customer.id, realm: customer.realm, publicID: customer.publicID, createdAt: customer.createdAt,
            facts: facts)
    }

    // MARK: The ledger

    private func insert(_ identity: Identity, of customer: Customer) throws {
        try execute(
            "INSERT OR IGNORE INTO identities (realm, kind, value, customer) VALUES (?, ?, ?, ?)",
            [customer.realm.code, identity.kind.rawValue, identity.value, customer.id])
    }

    /// A record that is full takes no more artifacts, and what they prove still counts.
    private func insert(_ artifacts: [Artifact], of customer: Customer) throws {
        guard !artifacts.isEmpty else { return }
        let sql = "SELECT count(*) FROM artifacts WHERE customer = ?"
        var count = try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [customer.id]) ?? 0
        for artifact in artifacts where count < Self.artifactsPerCustomer {
            if try insert(artifact, of: customer) { count += 1 }
        }
    }

    /// More than an app that syncs daily sends in ten years; so that nobody fills the disk with one account.
    static let artifactsPerCustomer = 5000

    /// Whether it was new.
    private func insert(_ artifact: Artifact, of customer: Customer) throws -> Bool {
        let known = "SELECT 1 FROM artifacts WHERE customer = ? AND sha256 = ?"
        let isKnown = try Int.fetchOne(db.cachedStatement(sql: known), arguments: [customer.id, Data(artifact.sha256)])
        guard isKnown == nil else { return false }
        let (header, rest) = artifact.parts
        try execute(
            """
            INSERT INTO artifacts (customer, kind, sha256, header, bytes, signed_at, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                customer.id, artifact.kind.rawValue, Data(artifact.sha256), try header.map { try headerID($0) },
                Data(rest), artifact.signedDate?.millisecondsSince1970, now.millisecondsSince1970,
            ])
        return true
    }

    private func headerID(_ bytes: ArraySlice<UInt8>) throws -> Int64 {
        let bytes = Data(bytes)
        let sql = "SELECT id FROM headers WHERE bytes = ?"
        if let id = try Int64.fetchOne(db.cachedStatement(sql: sql), arguments: [bytes]) { return id }
        try execute("INSERT INTO headers (bytes) VALUES (?)", [bytes])
        return db.lastInsertedRowID
    }

    private func insert(_ promise: RecordedPromise, of customer: Customer) throws {
        try execute(
            """
            INSERT OR IGNORE INTO promises (
                customer, entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                customer.id, promise.entitlement, promise.acquisition.appTransactionID, promise.acquisition.downloadID,
                promise.acquisition.originalPurchaseDate?.timeIntervalSinceReferenceDate, promise.policyVersion,
                promise.until?.millisecondsSince1970, promise.recordedAt.millisecondsSince1970,
            ])
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
