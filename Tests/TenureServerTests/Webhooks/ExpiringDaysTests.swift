import Foundation
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the notice before the end of a right` {
    private static let day: TimeInterval = 86_400
    private static let id = "704000000000000002"

    /// The sync of a newcomer with a subscription that ends after some days.
    private func subscription(days: Double) throws -> SyncRequest {
        let minter = Calculator.minter()
        return SyncRequest(
            appTransaction: try minter.newcomer(Self.id),
            transactions: [
                try minter.transaction(
                    "1", of: Self.id,
                    [
                        "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                        "purchaseDate": .instant(Calculator.now.addingTimeInterval(-3600)),
                        "expiresDate": .instant(Calculator.now.addingTimeInterval(days * Self.day)),
                    ])
            ])
    }

    @Test func `a longer notice is used for all customers after a restart`() async throws {
        try await withFolder { folder in
            let webhooks = [Webhook.local(9)]
            let request = try subscription(days: 20)
            try await withWebhooks(in: folder, webhooks) { client, hooks in
                _ = try await client.sync(request)
                while try await hooks.entitlementChanges.pass() {}
            }
            let before = ["policy.published", "entitlement.granted"]
            for (days, messages) in [(7, before), (20, before + ["entitlement.expiring"])] {
                try await withWebhooks(in: folder, webhooks, { $0.webhookSettings.expiringDays = days }) { _, hooks in
                    while try await hooks.entitlementChanges.pass() {}
                    let types = try await hooks.types()
                    #expect(types == messages, "\(days)")
                }
            }
        }
    }

    @Test func `without a notice, only the end of a right is sent`() async throws {
        try await withWebhooks([.local(9)], { $0.webhookSettings.expiringDays = 0 }) { client, hooks in
            _ = try await client.sync(try subscription(days: 10))
            hooks.clock.advance(by: 10 * Self.day - 1)
            while try await hooks.entitlementChanges.pass() {}
            let before = try await hooks.types()
            #expect(before == ["policy.published", "entitlement.granted"])
            hooks.clock.advance(by: 1)
            while try await hooks.entitlementChanges.pass() {}
            let after = try await hooks.types()
            #expect(after == before + ["entitlement.revoked"])
        }
    }
}
