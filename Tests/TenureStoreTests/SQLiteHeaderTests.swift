import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `JWS headers in SQLite` {
    @Test func `a JWS header from a transaction that failed doesn't belong to later artifacts`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            await #expect(throws: StoreError.defect("ended by the test")) {
                try await store.write { transaction -> Int64 in
                    _ = try transaction.headerID(Array("one".utf8)[...])
                    throw StoreError.defect("ended by the test")
                }
            }
            for header in ["two", "one"] {
                let bytes = Array("\(header).payload.signature".utf8)
                let artifact = Artifact(.transaction, bytes: bytes, sha256: Array(header.utf8), signedDate: nil)
                let (customer, _) = try await store.update(
                    [Identity(.appTransactionID, header)], in: Realm(.production), at: .now
                ) { known in
                    var update = CustomerUpdate(of: known)
                    update.add([artifact])
                    return (update, ())
                }
                let stored = try await store.read { try $0.storedArtifacts(of: customer.id) }
                #expect(stored.map(\.artifact.bytes) == [bytes])
            }
            try await store.close()
        }
    }

    @Test func `a JWS header from a failed write doesn't belong to artifacts of writes that share its flush to disk`()
        async throws
    {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        // The first of three writes stores the header of all three, and fails.
                        let header = "header\(number / 3)"
                        guard !number.isMultiple(of: 3) else {
                            await #expect(throws: StoreError.failed("\(number)")) {
                                try await store.write { transaction -> Int64 in
                                    _ = try transaction.headerID(Array(header.utf8)[...])
                                    throw StoreError.failed("\(number)")
                                }
                            }
                            return
                        }
                        let bytes = Array("\(header).\(number).signature".utf8)
                        let artifact = Artifact(.transaction, bytes: bytes, sha256: [UInt8(number)], signedDate: nil)
                        let (customer, _) = try await store.update(
                            [Identity(.appTransactionID, String(number))], in: Realm(.production), at: .now
                        ) { known in
                            var update = CustomerUpdate(of: known)
                            update.add([artifact])
                            return (update, ())
                        }
                        let stored = try await store.read { try $0.storedArtifacts(of: customer.id) }
                        #expect(stored.map(\.artifact.bytes) == [bytes])
                    }
                }
                try await group.waitForAll()
            }
            try await store.close()
        }
    }

    @Test func `a JWS header that many artifacts share is stored once`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            for number in 0..<5 {
                let bytes = Array("header.payload\(number).signature".utf8)
                let artifact = Artifact(.transaction, bytes: bytes, sha256: [UInt8(number)], signedDate: nil)
                _ = try await store.update(
                    [Identity(.appTransactionID, String(number))], in: Realm(.production), at: .now
                ) { known in
                    var update = CustomerUpdate(of: known)
                    update.add([artifact])
                    return (update, ())
                }
            }
            let database = try SQLiteConnection(path: path, for: .writing)
            #expect(try database.row("SELECT count(*) FROM headers")?.integer(0) == 1)
            try await store.close()
        }
    }

    @Test func `the cache of JWS headers has eight headers, each with its own row ID`() {
        let headers = HeaderRowIDs()
        func header(_ number: Int) -> ArraySlice<UInt8> { Array("header \(number)".utf8)[...] }
        func found() -> [Int64?] { (1...9).map { headers.rowID(of: header($0)) } }
        for number in 1...8 { headers.remember(header(number), rowID: Int64(10 * number)) }
        #expect(found() == [10, 20, 30, 40, 50, 60, 70, 80, nil])
        #expect(headers.rowID(of: header(1).dropLast()) == nil)
        headers.remember(header(9), rowID: 90)
        let nine = found()
        #expect(nine[8] == 90)
        // One of the others made room. The rest keep their row IDs.
        #expect(nine.count { $0 == nil } == 1)
        #expect((1...9).allSatisfy { nine[$0 - 1] == nil || nine[$0 - 1] == Int64(10 * $0) })
        headers.forget()
        #expect(found().allSatisfy { $0 == nil })
    }
}
