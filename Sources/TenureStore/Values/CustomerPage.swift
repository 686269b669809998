/// Copies of the rows of some customers in one block of memory, for databases that free rows when a transaction ends.
struct CustomerPage: Sendable {
    private var rows: [Row] = []
    /// Public IDs and facts, one after the other.
    private var bytes: [UInt8] = []

    private struct Row: Sendable {
        /// The code of the realm.
        let realm: UInt8
        /// The offset in `bytes` after the public ID.
        let publicIDEnd: Int
        /// The offset in `bytes` after the facts.
        let end: Int
    }

    mutating func add(realm: UInt8, publicID: some Collection<UInt8>, facts: some Collection<UInt8>) {
        bytes.append(contentsOf: publicID)
        let publicIDEnd = bytes.count
        bytes.append(contentsOf: facts)
        rows.append(Row(realm: realm, publicIDEnd: publicIDEnd, end: bytes.count))
    }

    /// Calls `body` for each row, with the arguments of `Store.forEachCustomer`.
    func forEach(
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(StoreError) in
                var start = 0
                for row in rows {
                    try body(
                        row.realm, UnsafeRawBufferPointer(rebasing: buffer[start..<row.publicIDEnd]),
                        UnsafeRawBufferPointer(rebasing: buffer[row.publicIDEnd..<row.end]))
                    start = row.end
                }
            }
        }
        try result.get()
    }
}
