import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a policy that another process published` {
    @Test func `is followed by the next sync, read and list of products`() async throws {
        try await withFolder { folder in
            try await withWorld(in: folder, { $0.policyStaleness = .zero }) { first in
                let request = SyncRequest(appTransaction: try Calculator.minter().newcomer(), transactions: [])
                let before = try await first.client.sync(request)
                #expect(before.everything.outcome == "denied")
                let products = try await first.client.get("/v1/products")
                try await withWorld(in: folder) { second in
                    let usual = try Calculator.policy()
                    try await second.service.publish(
                        try Policy(
                            app: usual.app, eras: usual.eras, buildNumbers: .increasing,
                            entitlements: [
                                Entitlement(
                                    name: "everything", products: [.init(id: Calculator.yearly)],
                                    honors: [Honor(era: "paid"), Honor(era: "freemium")])
                            ]))
                }
                #expect(try await first.client.customer(try before.token).everything.codes.first == "eraHonored")
                #expect(try await first.client.sync(request).everything.outcome == "granted")
                let later = try await first.client.get("/v1/products")
                #expect(Data(buffer: later.body) != Data(buffer: products.body))
            }
        }
    }

    @Test func `makes every promise from then on, however late a process looks`() async throws {
        try await withFolder { folder in
            // It looks again only in an hour, unless what it writes is refused.
            try await withWorld(in: folder, policy: try .generous(), { $0.policyStaleness = .seconds(3600) }) { first in
                try await withWorld(in: folder, { $0.policyStaleness = .zero }) { second in
                    try await second.service.publish(try Calculator.policy())
                    let request = SyncRequest(
                        appTransaction: try Calculator.minter().newcomer(), transactions: [])
                    let synced = try await first.client.sync(request)
                    #expect(synced.everything.outcome == "denied")
                    let id = synced.id
                    let customer = try #require(try await second.service.store.customer(named: id))
                    #expect(customer.facts.promises.isEmpty)
                }
            }
        }
    }

    @Test func `is told by webhook, with what it changes for whom`() async throws {
        try await withFolder { folder in
            try await withHooks(in: folder, [Webhook.local(9)]) { client, hooks in
                let newcomer = SyncRequest(appTransaction: try Calculator.minter().newcomer(), transactions: [])
                _ = try await client.sync(newcomer)
                while try await hooks.announcements.pass() {}
                try await hooks.service.publish(try .generous())
                while try await hooks.announcements.pass() {}
                #expect(
                    try await hooks.types() == ["policy.published", "policy.published", "entitlement.granted"])
            }
        }
    }
}
