import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a policy that another process published` {
    /// Publishes a policy with another process of a service that has webhooks.
    private func publish(_ policy: Policy, over active: Policy, in folder: String) async throws {
        var configuration = try Calculator.configuration(folder, policy: active)
        configuration.webhooks = [Webhook.local(9)]
        let service = try await TenureService(configuration)
        try await service.publish(policy)
        try await service.store.close()
    }

    @Test func `the next sync, read and list of products use a policy that another process published`() async throws {
        try await withFolder { folder in
            try await withServiceTestBed(in: folder, { $0.policyStaleness = .zero }) { first in
                let request = SyncRequest(appTransaction: try Calculator.minter().newcomer(), transactions: [])
                let before = try await first.client.sync(request)
                #expect(before.everything.outcome == "denied")
                let products = try await first.client.get("/v1/products")
                try await withServiceTestBed(in: folder) { second in
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

    @Test func `a process records no promise under a policy that another process has already replaced`()
        async throws
    {
        try await withFolder { folder in
            // This service reads the active policy only once an hour, unless the database refuses its write.
            try await withServiceTestBed(in: folder, policy: try .generous(), { $0.policyStaleness = .seconds(3600) }) {
                first in
                try await withServiceTestBed(in: folder, { $0.policyStaleness = .zero }) { second in
                    try await second.service.publish(try Calculator.policy())
                    let request = SyncRequest(
                        appTransaction: try Calculator.minter().newcomer(), transactions: [])
                    let synced = try await first.client.sync(request)
                    #expect(synced.everything.outcome == "denied")
                    let id = synced.id
                    let customer = try #require(try await second.service.store.read { try $0.customer(named: id) })
                    #expect(customer.facts.promises.isEmpty)
                }
            }
        }
    }

    @Test func `webhooks get a message about another process's policy, and then a message about the granted right`()
        async throws
    {
        try await withFolder { folder in
            try await withWebhooks(in: folder, [Webhook.local(9)]) { client, hooks in
                let newcomer = SyncRequest(appTransaction: try Calculator.minter().newcomer(), transactions: [])
                _ = try await client.sync(newcomer)
                while try await hooks.entitlementChanges.pass() {}
                try await publish(try .generous(), over: try Calculator.policy(), in: folder)
                while try await hooks.entitlementChanges.pass() {}
                #expect(
                    try await hooks.types() == ["policy.published", "policy.published", "entitlement.granted"])
            }
        }
    }

    @Test
    func `webhooks report a lost purchase after another process publishes a policy without the bought entitlement`()
        async throws
    {
        try await withFolder { folder in
            let usual = try Calculator.policy()
            let both = try Policy(
                app: usual.app, eras: usual.eras, buildNumbers: .increasing,
                entitlements: usual.entitlements + [Entitlement(name: "other", honors: [Honor(era: "paid")])])
            try await withWebhooks(in: folder, [Webhook.local(9)], policy: both) { client, hooks in
                // One customer bought the product. The other customer never had the right.
                let buyer = "704000000000000002"
                let bought = try await client.sync(
                    SyncRequest(
                        appTransaction: try Calculator.minter().newcomer(buyer),
                        transactions: [
                            try Calculator.minter().transaction(
                                "20", of: buyer,
                                ["productId": .string(Calculator.everything), "type": .string("Non-Consumable")])
                        ]))
                #expect(bought.everything.outcome == "granted")
                _ = try await client.sync(
                    SyncRequest(
                        appTransaction: try Calculator.minter().newcomer("704000000000000003"), transactions: []))
                while try await hooks.entitlementChanges.pass() {}
                let before = try await hooks.outbox().count
                let reduced = try Policy(
                    app: usual.app, eras: usual.eras, buildNumbers: .increasing,
                    entitlements: [Entitlement(name: "other", honors: [Honor(era: "paid")])])
                try await publish(reduced, over: both, in: folder)
                while try await hooks.entitlementChanges.pass() {}
                let messages = try await hooks.outbox().dropFirst(before).map(\.message)
                #expect(messages.map(\.type) == ["policy.published", "entitlement.revoked"])
                let text = String(decoding: messages.last?.data ?? [], as: UTF8.self)
                #expect(
                    text.contains(#""entitlement":"everything""#) && messages.last?.publicID == bought.id, "\(text)")
            }
        }
    }

    /// Runs a service that hasn't used a policy yet, which another process published: it has the entitlement `cloud`,
    /// with a trial, and eras on macOS only.
    private func withNewPolicy(
        _ body: @escaping @Sendable (AdminClient, _ newcomer: CustomerResponse) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try await withServiceTestBed(
                in: folder,
                {
                    $0.policyStaleness = .zero
                    $0.adminKey = AdminClient.adminKey
                }
            ) { first in
                let admin = AdminClient(client: first.client, key: AdminClient.adminKey)
                let newcomer = try await admin.newcomer()
                try await withServiceTestBed(in: folder) { second in
                    let usual = try Calculator.policy()
                    try await second.service.publish(
                        try Policy(
                            app: usual.app,
                            eras: [
                                Era(name: "paid", model: .paid),
                                Era(
                                    name: "freemium", model: .free,
                                    begins: [.macOS: .at(version: AppVersion("2.0"), date: nil)]),
                            ],
                            entitlements: usual.entitlements + [
                                Entitlement(
                                    name: "cloud", products: [.init(id: "com.example.calculator.cloud")],
                                    trial: .sessions(3))
                            ]))
                }
                try await body(admin, newcomer)
            }
        }
    }

    @Test func `support can grant an entitlement that only another process's policy has`() async throws {
        try await withNewPolicy { admin, newcomer in
            let granted = try await admin.post(
                try newcomer.path("/grants"), ["entitlement": "cloud", "reason": "r"])
            #expect(granted.outcome("cloud") == "granted", "\(granted.text)")
        }
    }

    @Test func `a customer can begin a trial that only another process's policy has`() async throws {
        try await withNewPolicy { admin, newcomer in
            let begun = try await admin.client.postSession("one", of: "cloud", token: try newcomer.token)
            #expect(begun.status == .ok, "\(String(buffer: begun.body))")
        }
    }

    @Test func `ready-made personas follow the policy that another process published`() async throws {
        try await withNewPolicy { admin, _ in
            let personas = try await admin.post("/v1/admin/personas/ready-made", [:]).personas
            let first = try #require(personas.first)
            #expect((first["set"] as? [String: String])?["originalPlatform"] == "macOS")
            let names = try #require(first["entitlements"] as? [String: String]).keys.sorted()
            #expect(names == ["cloud", "everything"])
        }
    }

    @Test func `the list of policies has a version that another process published, and says that it is current`()
        async throws
    {
        try await withNewPolicy { admin, _ in
            let versions = try await admin.get(AdminClient.policies).json["versions"] as? [[String: Any]]
            #expect(versions?.map { $0["isCurrent"] as? Bool } == [false, true])
        }
        try await withNewPolicy { admin, _ in
            let shown = try await admin.get(AdminClient.policies + "/2")
            #expect(shown.json["isCurrent"] as? Bool == true, "\(shown.text)")
        }
    }
}
