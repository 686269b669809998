import Foundation
import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// Which changes are sent to webhooks, and when.
@Suite struct `messages to webhook endpoints` {
    private static let closedPort = Webhook.local(9)
    private static let id = "704000000000000002"

    private func subscription(until: Date, refunded: Date? = nil, signed: Date = Calculator.now) throws -> SyncRequest {
        let minter = Calculator.minter(signed: signed)
        var fields: [String: JSONValue] = [
            "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
            "purchaseDate": .instant(Calculator.now.addingTimeInterval(-3600)), "expiresDate": .instant(until),
        ]
        if let refunded {
            fields["revocationDate"] = .instant(refunded)
            fields["revocationReason"] = .number("0")
        }
        return SyncRequest(
            appTransaction: try minter.newcomer(Self.id),
            transactions: [try minter.transaction("1", of: Self.id, fields)])
    }

    @Test func `webhooks send one message about a new right, however often the customer syncs`() async throws {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let request = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
            let answer = try await client.sync(request)
            _ = try await client.sync(request)
            while try await hooks.entitlementChanges.pass() {}
            let outbox = try await hooks.outbox()
            #expect(outbox.map(\.message.type) == ["policy.published", "entitlement.granted"])
            let body = try #require(outbox.last?.message.body(app: "com.example.calculator"))
            let json = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
            #expect(Set(json.keys) == ["id", "type", "time", "app", "environment", "isTest", "customer", "data"])
            #expect((json["customer"] as? [String: Any])?["id"] as? String == answer.id)
            let data = try #require(json["data"] as? [String: Any])
            #expect(data["entitlement"] as? String == "everything" && data["outcome"] as? String == "granted")
            #expect(data["until"] is NSNull)
            #expect(data["sentence"] as? String == answer.entitlements["everything"]?.sentence)
            #expect(((data["reasons"] as? [[String: Any]])?.first)?["code"] as? String == "eraHonored")
            #expect(!String(decoding: body, as: UTF8.self).contains("eyJ"))
        }
    }

    @Test func `webhooks send one message about a withdrawn parental consent, and no right ends`() async throws {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let minter = Calculator.minter()
            let owner = try await client.sync(
                SyncRequest(appTransaction: try minter.text(.appTransaction), transactions: []))
            var data = JSONObject()
            data["appAppleId"] = .integer(828_838_134)
            data["bundleId"] = .string("com.example.calculator")
            data["environment"] = .string("Production")
            data["signedAppTransactionInfo"] = .string(
                String(
                    decoding: try minter.mint(payload: minter.payload(of: .appTransaction).signedForServer),
                    as: UTF8.self
                ))
            let notification = try minter.notification("RESCIND_CONSENT", uuid: "u1", part: "appData", data)
            for _ in 0..<2 { #expect(try await client.notify(notification).status == .ok) }
            while try await hooks.entitlementChanges.pass() {}
            let messages = try await hooks.outbox().map(\.message)
            #expect(messages.map(\.type) == ["policy.published", "entitlement.granted", "customer.consentRescinded"])
            #expect(messages.last?.publicID == owner.id)
            #expect(messages.last.map { String(decoding: $0.data, as: UTF8.self) } == #"{"notification":"u1"}"#)
        }
    }

    @Test func `webhooks send nothing about a customer without rights, but send a bought right and its refund`()
        async throws
    {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let newcomer = try Calculator.minter().newcomer(Self.id)
            _ = try await client.sync(SyncRequest(appTransaction: newcomer, transactions: []))
            #expect(try await hooks.types() == ["policy.published"])
            let end = Calculator.now.addingTimeInterval(100 * 86_400)
            _ = try await client.sync(try subscription(until: end))
            let refund = try subscription(
                until: end, refunded: Calculator.now.addingTimeInterval(-60),
                signed: Calculator.now.addingTimeInterval(60))
            _ = try await client.sync(refund)
            #expect(try await hooks.types().dropFirst() == ["entitlement.granted", "entitlement.revoked"])
            let data = try #require(try await hooks.outbox().last?.message.data)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(data)) as? [String: Any])
            #expect(json["outcome"] as? String == "denied")
        }
    }

    @Test func `webhooks send a message a week before a right ends, and a message when the right has ended`()
        async throws
    {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let end = Calculator.now.addingTimeInterval(30 * 86_400)
            _ = try await client.sync(try subscription(until: end))
            func types() async throws -> [String] {
                while try await hooks.entitlementChanges.pass() {}
                return Array(try await hooks.types().dropFirst(2))
            }
            #expect(try await types() == [])
            hooks.clock.advance(by: 23 * 86_400 - 1)
            #expect(try await types() == [])
            hooks.clock.advance(by: 1)
            #expect(try await types() == ["entitlement.expiring"])
            // The next comparison is due at the end.
            let due = try await hooks.service.store.database.read { session throws(StoreError) in
                try session.row("SELECT min(next_comparison) FROM customers", [])?.integer(0)
            }
            #expect(due == end.millisecondsSince1970)
            // A sync in the last week sends no message.
            _ = try await client.sync(try subscription(until: end))
            #expect(try await types() == ["entitlement.expiring"])
            hooks.clock.advance(by: 7 * 86_400)
            #expect(try await types() == ["entitlement.expiring", "entitlement.revoked"])
            hooks.clock.advance(by: 365 * 86_400)
            #expect(try await types() == ["entitlement.expiring", "entitlement.revoked"])
        }
    }

    @Test func `webhooks send the ends of two rights, each at its time`() async throws {
        let policy = try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [Era(name: "free", model: .free)],
            entitlements: [
                Entitlement(name: "cloud", products: [.init(id: Calculator.yearly)]),
                Entitlement(name: "sync", products: [.init(id: "com.example.calculator.sync")]),
            ])
        try await withWebhooks([Self.closedPort], policy: policy) { client, hooks in
            let minter = Calculator.minter()
            func subscription(_ number: String, to product: String, days: Double) throws -> String {
                try minter.transaction(
                    number, of: Self.id,
                    [
                        "productId": .string(product), "type": .string("Auto-Renewable Subscription"),
                        "purchaseDate": .instant(Calculator.now.addingTimeInterval(-3600)),
                        "expiresDate": .instant(Calculator.now.addingTimeInterval(days * 86_400)),
                    ])
            }
            _ = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(Self.id),
                    transactions: [
                        try subscription("1", to: Calculator.yearly, days: 60),
                        try subscription("2", to: "com.example.calculator.sync", days: 20),
                    ]))
            for (days, count) in [(12.0, 2), (2, 3), (7, 4), (33, 5), (7, 6)] {
                hooks.clock.advance(by: days * 86_400)
                while try await hooks.entitlementChanges.pass() {}
                let types = try await hooks.types().filter { $0.hasPrefix("entitlement.") }
                #expect(types.count == count, "\(hooks.clock.now): \(types)")
            }
        }
    }

    @Test func `webhooks send the new end of an extended right, and send a message a week before the new end`()
        async throws
    {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let end = Calculator.now.addingTimeInterval(10 * 86_400)
            _ = try await client.sync(try subscription(until: end))
            hooks.clock.advance(by: 5 * 86_400)
            while try await hooks.entitlementChanges.pass() {}
            let later = end.addingTimeInterval(30 * 86_400)
            _ = try await client.sync(try subscription(until: later, signed: Calculator.now.addingTimeInterval(60)))
            hooks.clock.advance(by: 30 * 86_400)
            while try await hooks.entitlementChanges.pass() {}
            #expect(
                try await hooks.types().dropFirst() == [
                    "entitlement.granted", "entitlement.expiring", "entitlement.granted", "entitlement.expiring",
                ])
        }
    }

    @Test func `if a right ended during an outage, the next sync sends the webhook message about its end`() async throws
    {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let end = Calculator.now.addingTimeInterval(10 * 86_400)
            _ = try await client.sync(try subscription(until: end))
            hooks.clock.advance(by: 11 * 86_400)
            _ = try await client.sync(try subscription(until: end))
            #expect(try await hooks.types().dropFirst() == ["entitlement.granted", "entitlement.revoked"])
        }
    }

    @Test func `webhooks send the granted right of a support grant, and the revoked right of a revocation`()
        async throws
    {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let newcomer = try Calculator.minter().newcomer(Self.id)
            _ = try await client.sync(SyncRequest(appTransaction: newcomer, transactions: []))
            let identity = Identity(.appTransactionID, Self.id)
            let found = try await hooks.service.store.customer(by: identity, in: Realm(.production, isTest: true))
            let customer = try #require(found)
            let changes: [SupportGrant.Kind] = [.grant, .revocation]
            for (index, kind) in changes.enumerated() {
                let date = hooks.clock.now.addingTimeInterval(Double(index))
                _ = try await hooks.service.store.record(
                    SupportGrant(kind, of: "everything", date: date), for: customer.id)
                hooks.clock.advance(by: 1)
                while try await hooks.entitlementChanges.pass() {}
            }
            #expect(try await hooks.types().dropFirst() == ["entitlement.granted", "entitlement.revoked"])
        }
    }

    @Test func `webhooks send a message about a new policy, and a message for each affected customer`() async throws {
        try await withFolder { folder in
            let end = Calculator.now.addingTimeInterval(100 * 86_400)
            try await withWebhooks(in: folder, [Self.closedPort]) { client, hooks in
                _ = try await client.sync(try subscription(until: end))
                while try await hooks.entitlementChanges.pass() {}
            }
            let app = try Calculator.policy().app
            let stricter = try Policy(
                app: app, eras: [Era(name: "paid", model: .paid)], buildNumbers: .increasing,
                entitlements: [Entitlement(name: "everything", honors: [])])
            try await withWebhooks(in: folder, [Self.closedPort], policy: stricter) { _, hooks in
                while try await hooks.entitlementChanges.pass() {}
                let messages = Array(try await hooks.types().dropFirst())
                #expect(messages == ["entitlement.granted", "policy.published", "entitlement.revoked"])
            }
        }
    }

    @Test func `a webhook message about an entitlement removed from the policy has all fields of a decision`()
        async throws
    {
        try await withFolder { folder in
            let end = Calculator.now.addingTimeInterval(100 * 86_400)
            @Sendable func data(_ hooks: WebhookTestBed) async throws -> [String: Any] {
                while try await hooks.entitlementChanges.pass() {}
                let data = try #require(try await hooks.outbox().last?.message.data)
                return try #require(try JSONSerialization.jsonObject(with: Data(data)) as? [String: Any])
            }
            let fields = try await withWebhooks(in: folder, [Self.closedPort]) { client, hooks in
                _ = try await client.sync(try subscription(until: end))
                return Set(try await data(hooks).keys)
            }
            let renamed = try Policy(
                app: try Calculator.policy().app, eras: [Era(name: "paid", model: .paid)], buildNumbers: .increasing,
                entitlements: [Entitlement(name: "all", honors: [])])
            try await withWebhooks(in: folder, [Self.closedPort], policy: renamed) { _, hooks in
                let removed = try await data(hooks)
                #expect(try await hooks.types().last == "entitlement.revoked")
                #expect(Set(removed.keys) == fields)
                #expect(removed["entitlement"] as? String == "everything" && removed["outcome"] as? String == "denied")
                #expect(removed["sentence"] as? String == "“everything” is no longer offered.")
                #expect((removed["reasons"] as? [Any])?.isEmpty == true)
            }
        }
    }

    @Test
    func `webhooks don't report rights granted before the first webhook was configured, but report when they end`()
        async throws
    {
        try await withFolder { folder in
            let end = Calculator.now.addingTimeInterval(30 * 86_400)
            _ = try await withService(in: folder) { try await $0.sync(try subscription(until: end)) }
            try await withWebhooks(in: folder, [Self.closedPort]) { _, hooks in
                while try await hooks.entitlementChanges.pass() {}
                #expect(try await hooks.types() == [])
                // After 30 days, messages about the ends of these rights are sent.
                hooks.clock.advance(by: 30 * 86_400)
                while try await hooks.entitlementChanges.pass() {}
                #expect(try await hooks.types() == ["entitlement.revoked"])
            }
        }
    }

    /// Before there was a webhook, the customer's decision was undetermined, because their purchases weren't known.
    @Test(arguments: [false, true])
    func `webhooks send a purchase, if the decision was undetermined before the first webhook was configured`(
        comparesFirst: Bool
    ) async throws {
        try await withFolder { folder in
            let newcomer = try Calculator.minter().newcomer(Self.id)
            let unknown = try await withService(in: folder) {
                try await $0.sync(SyncRequest(appTransaction: newcomer))
            }
            #expect(unknown.entitlements["everything"]?.outcome == .undetermined)
            let purchase = try Calculator.minter().transaction(
                "1", of: Self.id,
                ["productId": .string(Calculator.everything), "type": .string("Non-Consumable")])
            try await withWebhooks(in: folder, [Self.closedPort]) { client, hooks in
                if comparesFirst {
                    while try await hooks.entitlementChanges.pass() {}
                    #expect(try await hooks.types() == [])
                }
                let bought = try await client.sync(SyncRequest(appTransaction: newcomer, transactions: [purchase]))
                #expect(bought.id == unknown.id)
                #expect(bought.entitlements["everything"]?.outcome == .granted)
                while try await hooks.entitlementChanges.pass() {}
                let messages = try await hooks.outbox().map(\.message)
                #expect(messages.map(\.type) == ["entitlement.granted"])
                let data = String(decoding: messages.first?.data ?? [], as: UTF8.self)
                #expect(data.contains(#""until":null"#), "\(data)")
            }
        }
    }

    @Test func `webhooks send nothing about an unbound customer`() async throws {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            let request = SyncRequest(
                appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
            let found = try await client.sync(request, from: nil)
            while try await hooks.entitlementChanges.pass() {}
            // The message is about the customer of the app transaction, not about the unbound customer.
            let messages = try await hooks.outbox().map(\.message)
            #expect(messages.map(\.type) == ["policy.published", "entitlement.granted"])
            let owner = try await client.sync(request)
            #expect(owner.id != found.id)
            #expect(messages.last?.publicID == owner.id)
        }
    }

    @Test func `webhooks send one message about a right that is granted in its last week`() async throws {
        try await withWebhooks([Self.closedPort]) { client, hooks in
            _ = try await client.sync(try subscription(until: Calculator.now.addingTimeInterval(3 * 86_400)))
            while try await hooks.entitlementChanges.pass() {}
            hooks.clock.advance(by: 86_400)
            while try await hooks.entitlementChanges.pass() {}
            let types = try await hooks.types()
            #expect(types.filter { $0 == "entitlement.granted" }.count == 1)
            #expect(!types.contains("entitlement.expiring"))
        }
    }

    @Test func `webhook messages contain the customer's user IDs in the app`() async throws {
        try await withWebhooks([Self.closedPort], { $0.adminKey = AdminClient.adminKey }) { client, hooks in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let owner = try await admin.owner()
            #expect(try await admin.post(try owner.path("/links"), ["userID": "ada"]).status == .ok)
            let revocation = ["entitlement": "everything", "reason": "a mistake"]
            #expect(try await admin.post(try owner.path("/revocations"), revocation).status == .ok)
            while try await hooks.entitlementChanges.pass() {}
            let message = try #require(try await hooks.outbox().last { $0.message.type == "entitlement.revoked" })
            let body = try JSONSerialization.jsonObject(with: Data(message.message.body(app: "com.example.calculator")))
            let customer = (body as? [String: Any])?["customer"] as? [String: Any]
            #expect(customer?["id"] as? String == owner.id)
            #expect(customer?["userIDs"] as? [String] == ["ada"])
        }
    }
}
