import StoreContract
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `a PostgreSQL record of an earlier release` {
    @Test(arguments: 1...Migration.all.count)
    func `comes with all that it held`(version: Int) async throws {
        let address = try freshAddress()
        let migrations = Array(Migration.all.prefix(version))
        let connection = try PostgresConnection(to: address, for: .acts)
        try connection.migrate(migrations)
        let keys = AdvisoryKeys([], schema: address.schema)
        let before = try connection.transact(.writing(keys)) { session throws(StoreError) in
            try EarlierRelease.fill(session, after: migrations)
            return try EarlierRelease.contents(session, after: migrations)
        }
        #expect(before.count > 20)
        try await withStore(at: address) { store in
            let after = try await store.read { session throws(StoreError) in
                try EarlierRelease.contents(session, after: migrations)
            }
            #expect(after == before)
            try await EarlierRelease.expectKnown(store)
        }
    }
}
