import Foundation
import TenureCore

extension Ledger {
    func ledger(of id: Int64) throws(StoreError) -> CustomerLedger? {
        guard let customer = try customer(id) else { return nil }
        var artifacts: [(artifact: Artifact, receivedAt: Date)] = []
        var notifications: [(notification: StoredNotification, receivedAt: Date)] = []
        var promises: [RecordedPromise] = []
        var support: [RecordedSupportAct] = []
        var events: [RecordedEvent] = []
        let group = try group(of: customer.id)
        for member in group {
            artifacts += try recordedArtifacts(of: member)
            notifications += try self.notifications(of: member)
            promises += try self.promises(of: member)
            support += try supportActs(of: member)
            events += try self.events(of: member)
        }
        return CustomerLedger(
            customer: customer, artifacts: artifacts, notifications: notifications, promises: promises,
            support: support, events: events, purchasesAreComplete: try purchasesAreComplete(of: group))
    }

    /// Replaces what is known by what the ledger proves; nil where there is no such customer.
    func rederive(
        _ id: Int64, by derive: (CustomerLedger) throws(StoreError) -> CustomerFacts
    ) throws(StoreError) -> (customer: Customer, hasChanged: Bool)? {
        guard try customer(id, forUpdate: true) != nil, let ledger = try ledger(of: id) else { return nil }
        let facts = try derive(ledger)
        let customer = try update(ledger.customer, to: facts)
        return (customer, facts != ledger.customer.facts)
    }

    /// Those who are themselves, in the order of their numbers.
    func customers(after id: Int64, limit: Int) throws(StoreError) -> [Int64] {
        try session.rows(
            "SELECT id FROM customers WHERE id > $1 AND merged_into IS NULL ORDER BY id LIMIT $2",
            [.integer(id), SQLValue(limit)]
        ).map { row throws(StoreError) in try row.integer(0) }
    }

    func customerPage(after id: Int64, through last: Int64) throws(StoreError) -> CustomerPage {
        var page = CustomerPage()
        let rows = try session.rows(
            """
            SELECT realm, public_id, facts FROM customers WHERE id > $1 AND id <= $2 AND merged_into IS NULL
            AND \(Self.isNoVisit) ORDER BY id
            """, [.integer(id), .integer(last)])
        for row in rows {
            page.add(
                realm: UInt8(clamping: try row.integer(0)), publicID: try row.text(1).utf8, facts: try row.bytes(2))
        }
        return page
    }
}
