import Foundation
import HTTPTypes
import HummingbirdTesting
import LocalAppStore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// A customer who changes while a job fetches the customer's history.
@Suite struct `a customer during the backfill of the history` {
    @Test func `a customer who was erased while the App Store sent the history isn't created again`() async throws {
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let histories = try #require(jobs).histories
                    let owner = try await client.sync(local.sync)
                    let claimed = try #require(try await histories.next())
                    let admin = AdminClient(client: client, key: AdminClient.adminKey)
                    #expect(try await admin.delete(try owner.path()).status == .ok)
                    try await histories.perform(claimed.job)
                    let state = await local.appStore.state
                    let id = state.id(of: try #require(state.acquisitions.first))
                    #expect(try await admin.get("/v1/admin/customers?id=\(id)").found.isEmpty)
                }
            }
        }
    }
}
