import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `the SQLite database` {
    @Test(arguments: StoreClause.all)
    func `the SQLite database passes the tests that every database must pass`(clause: StoreClause) async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await clause.check(store)
            try await store.close()
        }
    }

    // With `synchronous = NORMAL`, a power failure could lose an acknowledged sync.
    @Test func `the SQLite database flushes every transaction to disk`() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            let level = try await database.write(locking: []) { session throws(StoreError) in
                try session.row("PRAGMA synchronous")?.integer(0)
            }
            #expect(level == 2)
        }
    }

    @Test func `the connection that writes to SQLite keeps its settings, also after the log was emptied`() async throws
    {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            for _ in 0..<2 {
                let settings = try await database.write(locking: []) { session throws(StoreError) -> [Int64?] in
                    var settings: [Int64?] = []
                    for name in ["foreign_keys", "secure_delete", "busy_timeout", "journal_size_limit", "cache_size"] {
                        settings.append(try session.row("PRAGMA \(name)")?.integer(0))
                    }
                    return settings
                }
                #expect(settings == [1, 1, 5000, 0, -32_768])
                #expect(await database.clearLog())
            }
            try await database.close()
        }
    }

    @Test func `data in SQLite is found again after the database is opened again`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let first = try Store(SQLiteDatabase(path: path))
            let (customer, _) = try await first.update(
                [Identity(.appTransactionID, "704")], in: Realm(.production), at: .now
            ) { known in
                var update = CustomerUpdate(of: known)
                update.completePurchases()
                return (update, ())
            }
            try await first.close()
            let second = try Store(SQLiteDatabase(path: path))
            #expect(second.databaseID == first.databaseID)
            #expect(try await second.lookUp(customer.id) == customer)
            let lookUpNow = second.database.lookUpNow
            #expect(try lookUpNow?(customer.id) == customer)
            #expect(try lookUpNow?(customer.id + 1) == nil)
            try await second.close()
        }
    }

    @Test func `two SQLite databases have different IDs`() throws {
        try withFolder { folder in
            let one = try Store(SQLiteDatabase(path: folder + "/one.sqlite"))
            let two = try Store(SQLiteDatabase(path: folder + "/two.sqlite"))
            #expect(one.databaseID != two.databaseID)
        }
    }

    @Test func `an SQLite database of a newer release is refused`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            try await Store(SQLiteDatabase(path: path)).close()
            try SQLiteConnection(path: path, for: .writing).execute(
                "INSERT INTO migrations VALUES ('999 later', 0)")
            let error = #expect(throws: StoreError.self) { try Store(SQLiteDatabase(path: path)) }
            #expect(error == .newerDatabase(path: path))
            #expect(error?.description.contains("newer release") == true)
        }
    }

    @Test func `an SQLite database can't be opened in a folder that doesn't exist`() throws {
        let path = "/no/such/folder/tenure.sqlite"
        let error = #expect(throws: StoreError.self) { try Store(SQLiteDatabase(path: path)) }
        guard case .unavailable(path, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a file that isn't an SQLite database is refused`() throws {
        try withFolder { folder in
            let path = folder + "/tenure.sqlite"
            try Data("this is a letter to my grandmother, and longer than a header of SQLite".utf8)
                .write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: StoreError.self) { try Store(SQLiteDatabase(path: path)) }
            guard case .unusable? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `only their owner can read the files of an SQLite database`() throws {
        try withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(Set(names).isSuperset(of: ["tenure.sqlite", "tenure.sqlite-wal"]), "\(names)")
            for name in names {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
            }
            withExtendedLifetime(store) {}
        }
    }

    @Test func `reading a customer's damaged facts from SQLite is an error`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let (customer, _) = try await store.update(
                [Identity(.appTransactionID, "704")], in: Realm(.production), at: .now
            ) { (CustomerUpdate(of: $0), ()) }
            try SQLiteConnection(path: path, for: .writing).execute("UPDATE customers SET facts = x'010203'")
            await #expect(throws: StoreError.self) { try await store.lookUp(customer.id) }
            try await store.close()
        }
    }

    @Test(arguments: ["realm = 77", "realm = 300", "realm = -1", "created_at = -9223372036854775808"])
    func `a damaged row in SQLite is an error, never a crash`(damage: String) async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let change = { @Sendable (known: Customer?) in (CustomerUpdate(of: known), ()) }
            let identities = [Identity(.appTransactionID, "704")]
            let (customer, _) = try await store.update(identities, in: Realm(.production), at: .now, change)
            try SQLiteConnection(path: path, for: .writing).execute("UPDATE customers SET \(damage)")
            if damage.hasPrefix("realm") {
                for read in [
                    { _ = try await store.lookUp(customer.id) },
                    { _ = try await store.update(identities, in: Realm(.production), at: .now, change) },
                ] {
                    let error = await #expect(throws: StoreError.self) { try await read() }
                    guard case .damaged? = error else {
                        Issue.record("\(String(describing: error))")
                        return
                    }
                }
            } else {
                _ = try await store.update(identities, in: Realm(.production), at: .now, change)
            }
            try await store.close()
        }
    }

    @Test func `a damaged artifact in SQLite is an error, never a crash`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let (customer, _) = try await store.update(
                [Identity(.appTransactionID, "704")], in: Realm(.production), at: .now
            ) { known in
                var update = CustomerUpdate(of: known)
                update.add([Artifact(.receipt, bytes: [1], sha256: [2], signedDate: nil)])
                return (update, ())
            }
            let database = try SQLiteConnection(path: path, for: .writing)
            for code in [0, 300, -1] {
                try database.execute("UPDATE artifacts SET kind = \(code)")
                await #expect(throws: StoreError.self) { try await store.read { try $0.artifacts(of: customer.id) } }
            }
            try await store.close()
        }
    }

    // A reader of a memory-mapped file would be killed by a signal here.
    @Test func `reading a truncated SQLite file is an error, never a crash`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let big = CustomerUpdate.long
            var last: Int64 = 0
            for number in 0..<50 {
                let (customer, _) = try await store.update(
                    [Identity(.appTransactionID, String(number))], in: Realm(.production), at: .now
                ) { _ in (big, ()) }
                last = customer.id
            }
            try SQLiteConnection(path: path, for: .writing).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try await store.lookUp(1)
            #expect(truncate(path, 8192) == 0)
            await #expect(throws: StoreError.self) { try await store.lookUp(last) }
            try? await store.close()
        }
    }

    @Test func `opening an SQLite database makes its files private if other users could read them`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            try await Store(SQLiteDatabase(path: path)).close()
            let files = FileManager.default
            for name in [path, path + "-wal", path + "-shm"] {
                if !files.fileExists(atPath: name) { try Data().write(to: URL(fileURLWithPath: name)) }
                try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: name)
            }
            let store = try Store(SQLiteDatabase(path: path))
            for name in try files.contentsOfDirectory(atPath: folder) {
                let attributes = try files.attributesOfItem(atPath: folder + "/" + name)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
            }
            try await store.close()
        }
    }

    @Test func `a customer has at most 5,000 stored artifacts, but keeps the facts of all artifacts`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let bound = DatabaseTransaction.maximumArtifactsPerMember
            var id: Int64 = 0
            for start in [0, bound - 10] {
                let (customer, _) = try await store.update(
                    [Identity(.appTransactionID, "704")], in: Realm(.production), at: .now
                ) { known in
                    var update = CustomerUpdate(of: known)
                    update.add(
                        (start..<start + bound - 5).map {
                            Artifact(.receipt, bytes: [1], sha256: Array(String($0).utf8), signedDate: nil)
                        },
                        proving: [AppProof.signed(Date(timeIntervalSince1970: 1_400_000_000 + Double(start)))])
                    return (update, ())
                }
                id = customer.id
            }
            let customer = id
            #expect(try await store.read { try $0.artifacts(of: customer) }.count == bound)
            #expect(try await store.lookUp(id)?.facts.proofs.count == 2)
            try await store.close()
        }
    }

    @Test func `a customer is full if one member has 5,000 artifacts, but not if two members together have that many`()
        async throws
    {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let bound = DatabaseTransaction.maximumArtifactsPerMember
            func addArtifacts(_ range: Range<Int>, to id: String) async throws -> Customer {
                let identities = [Identity(.appTransactionID, id)]
                let (customer, _) = try await store.update(identities, in: Realm(.production), at: .now) { known in
                    var update = CustomerUpdate(of: known)
                    update.add(
                        range.map {
                            Artifact(.receipt, bytes: [1], sha256: Array(String($0).utf8), signedDate: nil)
                        })
                    return (update, ())
                }
                return customer
            }
            let first = try await addArtifacts(0..<bound / 2, to: "704")
            let second = try await addArtifacts(bound / 2..<bound, to: "705")
            _ = try await store.perform(
                RequestedChange(.merge(other: second.publicID), actor: "ada", at: .now), on: .publicID(first.publicID),
                using: Rederivation { _ in CustomerFacts() })
            let merged = try #require(try await store.lookUp(first.id)).id
            let rows = try #require(try await store.read { try $0.rows(of: merged) })
            #expect(rows.artifacts.count == bound && !rows.isFull)
            _ = try await addArtifacts(bound..<bound * 2, to: "704")
            #expect(try #require(try await store.read { try $0.rows(of: merged) }).isFull)
            try await store.close()
        }
    }

    @Test func `undoing a merge keeps the facts of artifacts that weren't stored because of the 5,000 limit`()
        async throws
    {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let purchases = (0...DatabaseTransaction.maximumArtifactsPerMember).map { String($0) }
            func bring(_ id: String, _ purchases: [String]) async throws -> Customer {
                let identities = [Identity(.appTransactionID, id)]
                let (customer, _) = try await store.update(identities, in: Realm(.production), at: .now) { known in
                    var update = CustomerUpdate(of: known)
                    update.identify(by: purchases.suffix(1).map { Identity(.originalTransactionID, $0) })
                    update.identify(by: [Identity(.downloadID, "d" + id)])
                    // No stored artifact proves these.
                    update.add(
                        [], proving: [.owned(.appTransaction(id)), .owned(.download("d" + id))],
                        renewals: purchases.suffix(1).map { .renewing($0) })
                    update.add(
                        purchases.map {
                            Artifact(.receipt, bytes: Array($0.utf8), sha256: Array($0.utf8), signedDate: nil)
                        }, purchases: purchases.map { .named($0) })
                    return (update, ())
                }
                return customer
            }
            let (full, other) = (try await bring("1", purchases), try await bring("2", ["extra", "other"]))
            #expect(
                try await store.read { try $0.artifacts(of: full.id) }.count
                    == DatabaseTransaction.maximumArtifactsPerMember
            )
            let rederivation = Rederivation { entries in
                var facts = CustomerFacts()
                facts.add(entries.artifacts.map { .named(String(decoding: $0.artifact.bytes, as: UTF8.self)) })
                return facts
            }
            for change in [CustomerChange.merge(other: full.publicID), .unmerge(other: full.publicID)] {
                _ = try await store.perform(
                    RequestedChange(change, actor: "ada", at: .now), on: .publicID(other.publicID), using: rederivation)
            }
            #expect(try await store.lookUp(full.id)?.facts.purchases.count == purchases.count)
            #expect(try await store.lookUp(other.id)?.facts.purchases == [.named("extra"), .named("other")])
            for (customer, id, purchase) in [(full, "1", purchases.last), (other, "2", "other")] {
                let facts = try #require(try await store.lookUp(customer.id)).facts
                #expect(Set(facts.proofs.compactMap(\.id)) == [.appTransaction(id), .download("d" + id)])
                #expect(facts.renewals.map(\.originalTransactionID) == [purchase])
            }
            try await store.close()
        }
    }
}

/// Runs a test with a temporary folder.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}

extension CustomerUpdate {
    /// An update that fills many pages.
    fileprivate static var long: CustomerUpdate {
        var update = CustomerUpdate(of: nil)
        update.add(
            [],
            purchases: (0..<200).map {
                Purchase(
                    transactionID: String($0), productID: "com.example.calculator.everything", type: .nonConsumable,
                    purchaseDate: nil, signedDate: nil)
            })
        return update
    }
}

extension Purchase {
    fileprivate static func named(_ id: String) -> Purchase {
        Purchase(
            transactionID: id, productID: "com.example.calculator.everything", type: .nonConsumable,
            purchaseDate: nil, signedDate: nil)
    }
}

extension Renewal {
    fileprivate static func renewing(_ id: String) -> Renewal {
        Renewal(
            originalTransactionID: id, productID: nil, gracePeriodExpiresDate: nil, isInBillingRetryPeriod: false,
            signedDate: nil)
    }
}

extension AppProof {
    fileprivate static func owned(_ id: AcquisitionID) -> AppProof {
        AppProof(kind: .appTransaction, signedDate: Date(timeIntervalSince1970: 1_400_000_000), id: id)
    }
}
