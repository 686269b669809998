import Foundation
import Testing

@testable import TenureStore

@Suite struct `the tables of the database` {
    @Test func `DatabaseTable lists all tables of a new database, each after the tables that it refers to`() throws {
        try withFolder { folder in
            _ = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            let database = try SQLiteConnection(path: folder + "/tenure.sqlite", for: .writing)
            let there = try database.tables().subtracting([SQLiteConnection.migrations, DatabaseTable.state])
            let tables = try DatabaseTable.all()
            #expect(Set(tables.map(\.name)) == there)
            for (index, table) in tables.enumerated() {
                for parent in table.columns.compactMap(\.references) where parent != table.name {
                    #expect(tables[..<index].contains { $0.name == parent }, "\(table.name) refers to \(parent)")
                }
            }
            #expect(tables.first { $0.name == "artifacts" }?.owner == 1)
            #expect(tables.first { $0.name == "customers" }?.selfReference != nil)
            #expect(tables.first { $0.name == "identities" }?.key.count == 3)
        }
    }

    @Test(arguments: [1, 3, 7, 100, 1000])
    func `names in a database dump sort by their bytes`(runLength: Int) throws {
        var random = SystemRandomNumberGenerator()
        let letters = ["a", "B", "z", "é", "0", "_", "ß", "\u{1F34F}", "Ä", "A\u{308}"]
        let entries = (0..<100).map { number in
            SortedNames.Entry(
                name: (0..<Int.random(in: 0..<5, using: &random)).map { _ in letters.randomElement() ?? "" }.joined(),
                number: Int64(number))
        }
        let names = SortedNames(runLength: runLength)
        for entry in entries { try names.add(entry) }
        var sorted: [SortedNames.Entry] = []
        while case let batch = try names.next(9), !batch.isEmpty { sorted += batch }
        #expect(sorted == entries.sorted(by: SortedNames.Entry.precedes))
        #expect(try names.next(1).isEmpty)
    }
}
