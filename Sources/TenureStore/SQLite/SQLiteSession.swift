import Foundation
import GRDB

/// GRDB's connection as the ledger sees it.
struct SQLiteSession: SQLSession {
    let db: Database

    var dialect: SQLDialect { .sqlite }

    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow] {
        do {
            let statement = try db.cachedStatement(sql: sql)
            let cursor = try Row.fetchCursor(statement, arguments: Self.bound(arguments))
            var rows: [SQLRow] = []
            while let row = try cursor.next() {
                rows.append(SQLRow(row.databaseValues.map { SQLValue($0) }))
            }
            return rows
        } catch {
            throw StoreError(error)
        }
    }

    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int {
        do {
            try db.cachedStatement(sql: sql).execute(arguments: Self.bound(arguments))
            return db.changesCount
        } catch {
            throw StoreError(error)
        }
    }

    private static func bound(_ arguments: [SQLValue]) -> StatementArguments {
        StatementArguments(arguments.map(\.databaseValue))
    }
}

extension SQLValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }

    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob([UInt8](data))
        }
    }
}
