import Testing

@testable import TenureStore

@Suite struct `the header of a database` {
    private static let uses: [DatabaseRequirements.Use] = [.reading, .writing, .maintaining]

    private func header(
        version: Int = 3, writer: Int = 3, reader: Int = 3, app: String? = "a", movedTo: String? = nil
    ) -> DatabaseHeader {
        DatabaseHeader(
            id: [1], bundleID: app, version: version, oldestWriter: writer, oldestReader: reader, movedTo: movedTo)
    }

    /// Returns why each use is refused: reading, writing and maintaining, in this order.
    private func objections(
        to header: DatabaseHeader, app: String? = "a", id: [UInt8]? = [1]
    ) -> [StoreError?] {
        let requirements = DatabaseRequirements(name: "db", id: id, bundleID: app, version: 3)
        return Self.uses.map { requirements.objection(to: header, for: $0) }
    }

    @Test func `a release may read or write a database only as far as the database's header permits`() {
        let newer = StoreError.newerDatabase(path: "db")
        #expect(objections(to: header()) == [nil, nil, nil])
        #expect(objections(to: header(version: 4)) == [nil, nil, nil])
        #expect(objections(to: header(version: 4, writer: 4)) == [nil, newer, newer])
        #expect(objections(to: header(version: 4, writer: 4, reader: 4)) == [newer, newer, newer])
        let older = StoreError.olderDatabase(database: "db")
        let earlier = header(version: 2, writer: 2, reader: 2)
        #expect(objections(to: earlier) == [older, older, older])
        let requirements = DatabaseRequirements(name: "db", id: [1], bundleID: "a", version: 3)
        for use in Self.uses { #expect(requirements.objectionBeforeMigration(to: earlier, for: use) == nil) }
    }

    @Test func `a moved database accepts no writes of a service, but reads and maintenance`() {
        let moved = StoreError.moved(database: "db", to: "there")
        #expect(objections(to: header(movedTo: "there")) == [nil, moved, nil])
    }

    @Test func `a database of another app or with another ID is refused for every use`() {
        let otherApp = StoreError.otherApp(database: "db", found: "b", expected: "a")
        #expect(objections(to: header(app: "b")) == [otherApp, otherApp, otherApp])
        #expect(objections(to: header(app: nil)) == [nil, nil, nil])
        #expect(objections(to: header(app: "b"), app: nil) == [nil, nil, nil])
        let otherDatabase = StoreError.otherDatabase(database: "db")
        #expect(objections(to: header(), id: [2]) == [otherDatabase, otherDatabase, otherDatabase])
        #expect(objections(to: header(), id: nil) == [nil, nil, nil])
    }

    @Test func `a service requires the ID of the database that it opened, and a command that fills one doesn't`() {
        func requiredID(_ opening: DatabaseOpening) -> [UInt8]? { opening.requirements(for: "db", opened: [1]).id }
        #expect(requiredID(DatabaseOpening(bundleID: "a")) == [1])
        #expect(requiredID(DatabaseOpening()) == nil)
        #expect(requiredID(.existing(of: "a")) == [1])
        #expect(requiredID(.existing(of: nil)) == nil)
        #expect(requiredID(.new(of: "a")) == nil)
        let openings: [DatabaseOpening] = [DatabaseOpening(), .existing(of: "a"), .new(of: "a")]
        #expect(openings.map(\.use) == [.writing, .reading, .reading])
        #expect(openings.map(\.creates) == [true, false, true])
        #expect(openings.map(\.migrates) == [true, false, false])
        let requirements = DatabaseOpening.existing(of: "a").requirements(for: "db")
        #expect(requirements.name == "db")
        #expect(requirements.bundleID == "a")
        #expect(requirements.id == nil)
        #expect(requirements.version == Migration.all.count)
    }

    @Test func `a step of the schema can't admit releases that an earlier step excluded`() throws {
        let connection = try SQLiteConnection(path: ":memory:", for: .creating)
        let steps = [
            Migration.all[0],
            Migration(
                "2 two", version: 2, oldestWriter: 2, oldestReader: 1,
                [.only(.postgres, "this isn't SQL"), .only(.sqlite, "CREATE TABLE two (id INTEGER)")]),
            Migration("3 three", version: 3, oldestWriter: 1, [.shared("CREATE TABLE three (id INTEGER)")]),
            Migration("4 four", version: 4, []),
        ]
        var versions: [[Int]] = []
        for step in steps {
            try step.run(for: .sqlite) { statements throws(StoreError) in try connection.runAll(statements) }
            let header = try DatabaseHeader.read(in: connection)
            versions.append([header.version, header.oldestWriter, header.oldestReader])
        }
        #expect(versions == [[1, 1, 1], [2, 2, 1], [3, 2, 1], [4, 4, 4]])
        #expect(try connection.tables().isSuperset(of: ["two", "three"]))
    }
}
