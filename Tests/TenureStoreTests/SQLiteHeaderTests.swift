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
}
