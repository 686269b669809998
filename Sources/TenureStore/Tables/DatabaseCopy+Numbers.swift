/// Copies the last row ID that each table assigned, so that the copy doesn't assign a row ID that the source has used.
extension DatabaseCopy {
    /// Returns the last row ID that each table assigned, by the name of the table. A row ID counts even if its row was
    /// deleted, because the row ID of an erased customer must never identify another customer.
    func lastNumbers(in session: any DatabaseSession) throws(StoreError) -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for table in tables where table.isNumbered {
            let key = table.columns[table.key[0]].name
            let row: SQLRow?
            switch session.dialect {
            case .sqlite: row = try session.row("SELECT seq FROM sqlite_sequence WHERE name = $1", [.text(table.name)])
            case .postgres:
                row = try session.row(
                    "SELECT pg_sequence_last_value(pg_get_serial_sequence('\(table.name)', '\(key)')::regclass)")
            }
            let assigned = try row?.integerIfPresent(0) ?? 0
            let highest = try session.row("SELECT max(\"\(key)\") FROM \(table.name)")?.integerIfPresent(0) ?? 0
            numbers[table.name] = max(assigned, highest)
        }
        return numbers
    }

    /// Sets the last row ID that each table assigned. `numbers` is the result of `lastNumbers` for the source.
    func setNumbers(_ numbers: [String: Int64], _ session: any DatabaseSession) throws(StoreError) {
        for table in tables where table.isNumbered {
            guard let last = numbers[table.name], last > 0 else { continue }
            let key = table.columns[table.key[0]].name
            switch session.dialect {
            case .postgres:
                _ = try session.rows(
                    "SELECT setval(pg_get_serial_sequence('\(table.name)', '\(key)'), $1)", [.integer(last)])
            case .sqlite:
                // Tables without AUTOINCREMENT store no last row ID. They continue after the highest row ID in use.
                let isCounted = try session.row(
                    "SELECT 1 FROM sqlite_master WHERE name = $1 AND sql LIKE '%AUTOINCREMENT%'", [.text(table.name)])
                guard isCounted != nil else { continue }
                try session.execute("DELETE FROM sqlite_sequence WHERE name = $1", [.text(table.name)])
                try session.execute(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", [.text(table.name), .integer(last)])
            }
        }
    }
}
