import StoreContract
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `a PostgreSQL record of an earlier release` {
    @Test(arguments: 1...Migration.all.count)
    func `comes with all that it held`(version: Int) async throws {
        try await expectKept(Array(Migration.all.prefix(version)))
    }

    @Test(arguments: EditedLifecycle.allCases)
    func `whose second step was edited comes with all that it held, in the shape of a new one`(
        form: EditedLifecycle
    ) async throws {
        for count in Set([2, form.migrations.count]) {
            let address = try await expectKept(Array(form.migrations.prefix(count)))
            let fresh = try freshAddress()
            try await withStore(at: fresh) { _ in }
            #expect(try shape(of: address) == shape(of: fresh))
        }
    }

    @discardableResult
    private func expectKept(_ migrations: [Migration]) async throws -> PostgresAddress {
        let address = try freshAddress()
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
        return address
    }
}
