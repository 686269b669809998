import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `telling of an erasure` {
    @Test func `names the customer by the public id alone, so that it can outlive them`() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            try await store.announce(to: [Endpoint(name: "app")], under: "terms", at: .now)
            let (customer, _) = try await store.amend(
                [Identity(.appTransactionID, "704"), Identity(.userID, "u1")], in: Realm(.production), at: .now
            ) { (Amendment(of: $0), ()) }
            try await store.write(locking: []) { session throws(StoreError) in
                try Ledger(session).tell(Message(.customerErased, [:]), of: customer)
                try session.execute("DELETE FROM identities")
                try session.execute("DELETE FROM customers")
            }
            let message = try #require(try await store.messages(.since(.distantPast), limit: 9).first?.message)
            #expect(message.type == "customer.erased" && message.publicID == customer.publicID)
            #expect(message.userIDs == [] && message.data == Array("{}".utf8))
            try await store.close()
        }
    }
}
