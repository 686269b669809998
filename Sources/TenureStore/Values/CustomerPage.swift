/// Copies of the rows of some customers in one block of memory. PostgreSQL needs them, because it frees rows early.
struct CustomerPage: Sendable {
    private var rows: [Row] = []
    /// Public IDs and facts, one after the other.
    private var bytes: [UInt8] = []

    private struct Row: Sendable {
        let realm: UInt8
        let nameEnd: Int
        let end: Int
    }

    mutating func add(realm: UInt8, publicID: some Collection<UInt8>, facts: some Collection<UInt8>) {
        bytes.append(contentsOf: publicID)
        let nameEnd = bytes.count
        bytes.append(contentsOf: facts)
        rows.append(Row(realm: realm, nameEnd: nameEnd, end: bytes.count))
    }

    /// Works like `Store.forEachCustomer`.
    func forEach(
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(StoreError) in
                var start = 0
                for row in rows {
                    try body(
                        row.realm, UnsafeRawBufferPointer(rebasing: buffer[start..<row.nameEnd]),
                        UnsafeRawBufferPointer(rebasing: buffer[row.nameEnd..<row.end]))
                    start = row.end
                }
            }
        }
        try result.get()
    }
}
