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

    @Test func `the ends of several rights of one customer are sent at their own times`() async throws {
        let entitlements = [("cloud", "com.example.cloud"), ("extra", "com.example.extra")]
        let policy = try Policy(
            app: try Calculator.policy().app, eras: [Era(name: "paid", model: .paid)], buildNumbers: .increasing,
            entitlements: entitlements.map { Entitlement(name: $0, products: [.init(id: $1)], honors: []) })
        let minter = Calculator.minter()
        var request = SyncRequest(appTransaction: try minter.newcomer(Self.id), transactions: [])
        for (number, days) in [20.0, 10].enumerated() {
            request.transactions?.append(
                try minter.transaction(
                    "\(number + 1)", of: Self.id,
                    [
                        "productId": .string(entitlements[number].1), "type": .string("Auto-Renewable Subscription"),
                        "subscriptionGroupIdentifier": .string("\(number + 1)"),
                        "purchaseDate": .instant(Calculator.now.addingTimeInterval(-3600)),
                        "expiresDate": .instant(Calculator.now.addingTimeInterval(days * Self.day)),
                    ]))
        }
        try await withWebhooks([.local(9)], policy: policy, { $0.webhookSettings.expiringDays = 0 }) {
            [request] client, hooks in
            _ = try await client.sync(request)
            func revoked() async throws -> [String] {
                while try await hooks.entitlementChanges.pass() {}
                return try await hooks.outbox().map(\.message).filter { $0.type == "entitlement.revoked" }.map {
                    String(decoding: $0.data, as: UTF8.self).contains(#""entitlement":"extra""#) ? "extra" : "cloud"
                }
            }
            let before = try await revoked()
            #expect(before == [])
            hooks.clock.advance(by: 10 * Self.day)
            let first = try await revoked()
            #expect(first == ["extra"])
            hooks.clock.advance(by: 10 * Self.day)
            let second = try await revoked()
            #expect(second == ["extra", "cloud"])
        }
    }
}
