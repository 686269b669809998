import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a policy that another process published and this one doesn't have yet` {
    @Test func `a customer's request reads a policy that another process published if a promise depends on it`()
        async throws
    {
        try await withFolder { folder in
            // This policy promises everything to customers who came before 2020.
            let later = try Calculator.policy(honors: [Honor(era: "paid"), Honor(era: "freemium")])
            // This service reads the active policy from the database only once an hour.
            try await withServiceTestBed(in: folder, { $0.policyStaleness = .seconds(3600) }) { first in
                let request = SyncRequest(appTransaction: try Calculator.minter().newcomer())
                let before = try await first.client.sync(request)
                #expect(before.entitlements["everything"]?.outcome != .granted)
                try await withServiceTestBed(in: folder, policy: later) { second in
                    let promised = try await second.client.sync(request)
                    #expect(promised.entitlements["everything"]?.outcome == .granted)
                }
                let token = try #require(before.accessToken).value
                let asked = try await first.client.customer(token)
                #expect(asked.entitlements["everything"]?.reasons.first?.code == "promise")
            }
        }
    }

    @Test func `syncs and notifications read another process's policy if a promise depends on it`() async throws {
        try await withFolder { folder in
            let later = try Calculator.policy(honors: [Honor(era: "paid"), Honor(era: "freemium")])
            // This service reads the active policy from the database only once an hour.
            try await withServiceTestBed(in: folder, { $0.policyStaleness = .seconds(3600) }) { first in
                let request = SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000002"))
                let other = SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000003"))
                try await withServiceTestBed(in: folder, policy: later) { second in
                    for request in [request, other] { _ = try await second.client.sync(request) }
                }
                let bought = SimulatedPurchase(
                    id: "1", original: "1", product: Calculator.everything, type: .nonConsumable,
                    purchased: Calculator.now, acquisition: "704000000000000002")
                let response = try await first.client.notify(
                    try Calculator.minter().notification("ONE_TIME_CHARGE", uuid: "u", of: bought))
                #expect(response.status == .ok)
                #expect(try await first.client.sync(other).entitlements["everything"]?.outcome == .granted)
            }
        }
    }
}
