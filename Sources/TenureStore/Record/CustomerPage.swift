import TenureCore

/// Some customers as their rows have them, for work that goes through all of them: nothing is made of a row before it is
/// asked for.
package struct CustomerPage: Sendable {
    /// The number of the last customer of the page; nil where there is none.
    package private(set) var last: Int64?
    private var rows: [Row] = []
    /// Public ids and facts, one after the other.
    private var bytes: [UInt8] = []

    private struct Row: Sendable {
        let realm: UInt8
        let nameEnd: Int
        let end: Int
    }

    package init() {}

    package var count: Int { rows.count }

    package mutating func add(
        _ id: Int64, realm: UInt8, publicID: some Collection<UInt8>, facts: some Collection<UInt8>
    ) {
        last = id
        bytes.append(contentsOf: publicID)
        let nameEnd = bytes.count
        bytes.append(contentsOf: facts)
        rows.append(Row(realm: realm, nameEnd: nameEnd, end: bytes.count))
    }

    /// Tells the customers in the order of their numbers.
    ///
    /// Throws `damaged` where a row does not say what was written.
    package func forEach(
        _ body: (_ publicID: String, Realm, () throws(StoreError) -> CustomerFacts) throws(StoreError) -> Void
    ) throws(StoreError) {
        var start = 0
        for row in rows {
            guard let realm = Realm(code: row.realm) else {
                throw .damaged("no realm has the number \(row.realm)")
            }
            let publicID = String(decoding: bytes[start..<row.nameEnd], as: UTF8.self)
            let facts = row.nameEnd..<row.end
            try body(publicID, realm) { () throws(StoreError) in
                let result = bytes.withUnsafeBytes { buffer in
                    Result { () throws(StoreError) in
                        try CustomerFacts(decoding: UnsafeRawBufferPointer(rebasing: buffer[facts]))
                    }
                }
                return try result.get()
            }
            start = row.end
        }
    }
}
