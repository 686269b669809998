/// Reads rows of any table, for dumps, checks and copies.
extension DatabaseTable {
    /// The number of rows in a page. A page must fit into memory, and an artifact may have megabytes.
    private static let pageSize = 32

    /// Calls `body` with each page of the rows that match a condition, in the database's order of the key.
    ///
    /// - Parameters:
    ///   - condition: an SQL condition with parameters from `$1` on; nil for all rows.
    ///   - arguments: the values of these parameters.
    func eachPage(
        in session: any DatabaseSession, where condition: String? = nil, _ arguments: [SQLValue] = [],
        _ body: ([SQLRow]) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard !key.isEmpty else {
            // The table has one row.
            return try body(try session.rows("SELECT \(columnList) FROM \(name)"))
        }
        // The key of the last row on the previous page.
        var lastKey: [SQLValue]?
        while true {
            var conditions = condition.map { ["(\($0))"] } ?? []
            if let lastKey {
                let placeholders = DatabaseTransaction.placeholders(lastKey.count, from: arguments.count + 1)
                conditions.append("(\(keyList)) > (\(placeholders))")
            }
            let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
            let rows = try session.rows(
                "SELECT \(columnList) FROM \(name)\(filter) ORDER BY \(keyList) LIMIT \(Self.pageSize)",
                arguments + (lastKey ?? []))
            if !rows.isEmpty { try body(rows) }
            guard rows.count == Self.pageSize, let row = rows.last else { return }
            lastKey = key.map { row.values[$0] }
        }
    }

    /// Calls `body` with each row that belongs to one of these customers, and with the customer's row ID. The rows of
    /// one customer come sorted by key, and text keys are compared byte by byte.
    ///
    /// - Parameter customers: the row IDs of at most `batchSize` customers.
    func rows(
        of customers: [Int64], in session: any DatabaseSession, _ body: (Int64, SQLRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let ownerColumn else { return }
        let column = "\"\(columns[ownerColumn].name)\""
        let counts = try session.rows(
            "SELECT \(column), count(*) FROM \(name) WHERE \(column) IN \(Self.batchPlaceholders) GROUP BY \(column)",
            Self.batch(customers))
        // The customers with rows that one query reads together.
        var readTogether: [Int64] = []
        for row in counts {
            let customer = try row.integer(0)
            if try row.integer(1) <= Self.pageSize {
                readTogether.append(customer)
            } else if isNumbered {
                try eachPage(in: session, where: "\(column) = $1", [.integer(customer)]) { page throws(StoreError) in
                    for row in page { try body(customer, row) }
                }
            } else {
                // The rows of tables without row IDs hold only names and numbers, so all of them fit into memory.
                readTogether.append(customer)
            }
        }
        guard !readTogether.isEmpty else { return }
        let rows = try session.rows(
            "SELECT \(columnList) FROM \(name) WHERE \(column) IN \(Self.batchPlaceholders)", Self.batch(readTogether))
        for row in sorted(rows) { try body(try row.integer(ownerColumn), row) }
    }

    /// Sorts rows by key. Texts are compared byte by byte, because databases order letters differently.
    func sorted(_ rows: [SQLRow]) -> [SQLRow] {
        rows.sorted { left, right in
            for column in key {
                if left.values[column].precedes(right.values[column]) { return true }
                if right.values[column].precedes(left.values[column]) { return false }
            }
            return false
        }
    }

    /// The number of row IDs in one query: a constant, so that one prepared statement serves all queries.
    static let batchSize = 32

    /// The placeholders of one batch: `($1, $2 …)`.
    static let batchPlaceholders = "(\(DatabaseTransaction.placeholders(batchSize, from: 1)))"

    /// Returns at most `batchSize` row IDs as the arguments of `batchPlaceholders`. Repeats the last row ID to fill the
    /// batch, which selects no further rows.
    static func batch(_ numbers: some Collection<Int64>) -> [SQLValue] {
        Array(numbers).padded(to: batchSize).map { .integer($0) }
    }
}

extension SQLValue {
    /// Whether this value comes before another value, in an order that is the same on every database.
    fileprivate func precedes(_ other: SQLValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.blob(let left), .blob(let right)): left.lexicographicallyPrecedes(right)
        default: rank < other.rank
        }
    }

    /// The position of the value's type in the order of values.
    private var rank: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }
}
