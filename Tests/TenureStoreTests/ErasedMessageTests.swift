import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `a webhook message about an erasure` {
    @Test func `a webhook message about an erasure has only the customer's public ID`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await store.write(at: .now, locking: [.endpoints]) {
                try $0.register([Endpoint(name: "app")], comparisonKey: "a")
            }
            let (customer, _) = try await store.update(
                [Identity(.appTransactionID, "704"), Identity(.userID, "u1")], in: Realm(.production), at: .now
            ) { (CustomerUpdate(of: $0), ()) }
            try await store.database.write(locking: []) { session throws(StoreError) in
                try DatabaseTransaction(session).queue(Message(.customerErased, [:]), about: customer)
                try session.execute("DELETE FROM identities")
                try session.execute("DELETE FROM customers")
            }
            let message = try #require(
                try await store.read { try $0.messages(.since(.distantPast), limit: 9) }.first?.message)
            #expect(message.type == "customer.erased" && message.publicID == customer.publicID)
            #expect(message.userIDs == [] && message.data == Array("{}".utf8))
            try await store.close()
        }
    }
}
