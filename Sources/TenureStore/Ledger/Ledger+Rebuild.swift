import TenureCore

extension Ledger {
    /// As `rederive`, also where what is known cannot be read any more: then it counts as nothing.
    func rebuild(
        _ id: Int64, by derive: (CustomerLedger) throws(StoreError) -> CustomerFacts
    ) throws(StoreError) -> (customer: Customer, hasChanged: Bool)? {
        guard let row = try session.row("SELECT facts, merged_into FROM customers WHERE id = $1", [.integer(id)]),
            try row.integerIfPresent(1) == nil
        else { return nil }
        var isReadable = true
        do {
            _ = try CustomerFacts(decoding: try row.bytes(0))
        } catch {
            isReadable = false
            // Undone where the derivation fails.
            try session.execute(
                "UPDATE customers SET facts = $1 WHERE id = $2", [.blob(CustomerFacts().encoded), .integer(id)])
        }
        guard let (customer, hasChanged) = try rederive(id, by: derive) else { return nil }
        return (customer, hasChanged || !isReadable)
    }
}

extension SQLStore {
    /// Replaces what is known of a customer by what `derive` makes of the ledger, be it readable or not; nil where there
    /// is no such customer.
    package func rebuild(
        _ customer: Int64, by derive: @escaping @Sendable (CustomerLedger) throws(StoreError) -> CustomerFacts
    ) async throws(StoreError) -> (customer: Customer, hasChanged: Bool)? {
        try await write(locking: []) { session throws(StoreError) in
            try Ledger(session).rebuild(customer, by: derive)
        }
    }
}
