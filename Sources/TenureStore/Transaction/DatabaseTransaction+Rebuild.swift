import TenureCore

extension DatabaseTransaction {
    /// Replaces the customer's facts with what `derive` returns for the stored rows, even if the current facts can't be
    /// read. Returns nil if there is no such customer.
    package func rebuild(
        _ id: Int64, by derive: (CustomerRows) throws(StoreError) -> CustomerFacts
    ) throws(StoreError) -> (customer: Customer, hasChanged: Bool)? {
        guard let row = try session.row("SELECT facts, merged_into FROM customers WHERE id = $1", [.integer(id)]),
            try row.integerIfPresent(1) == nil
        else { return nil }
        var isReadable = true
        do {
            _ = try CustomerFacts(decoding: try row.bytes(0))
        } catch {
            isReadable = false
            // Rolled back if the derivation fails.
            try session.execute(
                "UPDATE customers SET facts = $1 WHERE id = $2", [.blob(CustomerFacts().encoded), .integer(id)])
        }
        guard let (customer, hasChanged) = try rederive(id, by: derive) else { return nil }
        return (customer, hasChanged || !isReadable)
    }
}
