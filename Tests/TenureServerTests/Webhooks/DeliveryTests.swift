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

/// Deliveries, from the stored message to the receiver.
@Suite struct `delivering webhooks` {
    private static func grants(_ receiver: Receiver) -> [Receiver.Request] {
        receiver.received.filter { $0.type == "entitlement.granted" }
    }

    @Test func `a webhook message arrives signed, with its ID in a header and in the body`() async throws {
        let receiver = try await Receiver()
        try await withWebhooks([.local(receiver.port)]) { client, hooks in
            let answer = try await client.sync(try Calculator.owner("1"))
            try await hooks.work()
            let request = try #require(Self.grants(receiver).first)
            #expect(request.customer["id"] as? String == answer.id)
            #expect(request.headers["tenure-event-id"] == request.id)
            let time = Int(Calculator.now.timeIntervalSince1970)
            let expected = WebhookSignature.text(of: request.body, at: Calculator.now, secrets: [WebhookTestBed.secret])
            #expect(request.headers["tenure-signature"] == expected)
            #expect(expected.hasPrefix("t=\(time),v1="))
            let delivery = try #require(try await hooks.outbox().last?.deliveries.first)
            #expect(delivery.deliveredAt == Calculator.now && delivery.attempts.map(\.status) == [200])
        }
        try await receiver.close()
    }

    @Test func `each webhook endpoint gets messages at its own URL, signed with its own secrets`() async throws {
        let receiver = try await Receiver()
        let secrets = ["another secret of the tests", "a third secret of the tests"]
        var other = Webhook.local(receiver.port, name: "other", events: ["entitlement.granted"])
        other.url = "http://127.0.0.1:\(receiver.port)/other"
        other.secrets = secrets
        let webhooks = [Webhook.local(receiver.port, events: ["entitlement.granted"]), other]
        try await withWebhooks(webhooks) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            try await hooks.work()
        }
        let received = receiver.received.sorted { $0.line < $1.line }
        #expect(received.map(\.line) == ["POST /hooks?from=tenure HTTP/1.1", "POST /other HTTP/1.1"])
        let body = try #require(received.first?.body)
        let expected = [[WebhookTestBed.secret], secrets].map {
            WebhookSignature.text(of: body, at: Calculator.now, secrets: $0)
        }
        #expect(received.compactMap { $0.headers["tenure-signature"] } == expected)
        try await receiver.close()
    }

    @Test func `a webhook endpoint gets only the events that it subscribed to`() async throws {
        let receiver = try await Receiver()
        let webhooks = [
            Webhook.local(receiver.port, name: "grants", events: ["entitlement.granted"]),
            Webhook.local(receiver.port, name: "policies", events: ["policy.published"]),
        ]
        try await withWebhooks(webhooks) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            try await hooks.work()
            #expect(receiver.received.compactMap(\.type).sorted() == ["entitlement.granted", "policy.published"])
        }
        try await receiver.close()
    }

    private func subscriber(_ id: String) throws -> SyncRequest {
        let minter = Calculator.minter()
        let fields: [String: JSONValue] = [
            "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
            "purchaseDate": .instant(Calculator.now.addingTimeInterval(-3600)),
            "expiresDate": .instant(Calculator.now.addingTimeInterval(100 * 86_400)),
        ]
        return SyncRequest(
            appTransaction: try minter.newcomer(id), transactions: [try minter.transaction("1\(id)", of: id, fields)])
    }

    /// Returns `Calculator.policy`, in which no product grants anything.
    private func policyWithoutProducts() throws -> Policy {
        let policy = try Calculator.policy()
        return try Policy(
            app: policy.app, eras: policy.eras, buildNumbers: policy.buildNumbers,
            entitlements: [Entitlement(name: "everything", honors: policy.entitlements[0].honors)])
    }

    @Test func `webhook messages about single customers are sent before the messages of a publication`()
        async throws
    {
        let receiver = try await Receiver()
        let policy = try policyWithoutProducts()
        try await withFolder { folder in
            var names: [String: String] = [:]
            for number in 1...4 {
                let request = try subscriber("\(number)")
                let answer = try await withWebhooks(in: folder, [.local(receiver.port)]) { client, hooks in
                    let answer = try await client.sync(request)
                    try await hooks.work()
                    return answer
                }
                names[answer.id] = "\(number)"
            }
            let before = receiver.received.count
            let newest = try await withWebhooks(
                in: folder, [.local(receiver.port)], policy: policy, { $0.webhookSettings.concurrency = 1 }
            ) { client, hooks in
                while try await hooks.entitlementChanges.pass() {}
                let realm = Realm(.production, isTest: true)
                let third = try #require(
                    try await hooks.service.store.customer(by: Identity(.appTransactionID, "3"), in: realm))
                _ = try await hooks.service.store.record(
                    SupportGrant(.grant, of: "everything", date: hooks.clock.now), for: third.id)
                while try await hooks.entitlementChanges.pass() {}
                let newest = try await client.sync(try Calculator.owner("5"))
                for worker in hooks.workers { while await worker.pass() > 0 {} }
                return newest
            }
            names[newest.id] = "5"
            let order = receiver.received.dropFirst(before).map { request in
                let name = (request.customer["id"] as? String).flatMap { names[$0] }
                return [request.type?.split(separator: ".").last.map(String.init), name].compactMap(\.self)
                    .joined(separator: " ")
            }
            #expect(
                order == [
                    "published", "revoked 3", "granted 3", "granted 5", "revoked 1", "revoked 2", "revoked 4",
                ])
        }
        try await receiver.close()
    }

    @Test func `a webhook endpoint can skip a publication's messages about each customer, but gets other changes`()
        async throws
    {
        let receiver = try await Receiver()
        let webhooks = [
            Webhook.local(receiver.port, name: "one", eachCustomer: false), Webhook.local(receiver.port, name: "each"),
        ]
        let policy = try policyWithoutProducts()
        try await withFolder { folder in
            let request = try subscriber("1")
            try await withWebhooks(in: folder, webhooks) { client, hooks in
                _ = try await client.sync(request)
                try await hooks.work()
            }
            try await withWebhooks(in: folder, webhooks, policy: policy) { client, hooks in
                try await hooks.work()
                _ = try await client.sync(try Calculator.owner("2"))
                try await hooks.work()
                let queued = try await hooks.outbox().map { "\($0.message.type): \($0.deliveries.map(\.endpoint))" }
                #expect(
                    queued == [
                        #"policy.published: ["each", "one"]"#, #"entitlement.granted: ["each", "one"]"#,
                        #"policy.published: ["each", "one"]"#, #"entitlement.revoked: ["each"]"#,
                        #"entitlement.granted: ["each", "one"]"#,
                    ])
            }
        }
        try await receiver.close()
    }

    @Test func `metrics count webhook attempts and waiting messages`() async throws {
        let receiver = try await Receiver { _, count in count == 0 ? .status(500) : .ok }
        try await withWebhooks([.local(receiver.port)], { $0.metrics = .open }) { client, hooks in
            func series(_ name: String) async throws -> [String] {
                String(buffer: try await client.get("/metrics").body).split(separator: "\n")
                    .filter { $0.hasPrefix("tenure_webhook_\(name)") }.map(String.init)
            }
            #expect(
                try await series("attempts_total") == [
                    #"tenure_webhook_attempts_total{endpoint="app",result="delivered"} 0"#,
                    #"tenure_webhook_attempts_total{endpoint="app",result="failed"} 0"#,
                    #"tenure_webhook_attempts_total{endpoint="app",result="givenUp"} 0"#,
                ])
            let queued = Int(hooks.clock.now.timeIntervalSince1970)
            #expect(
                try await series("deliveries") == [#"tenure_webhook_deliveries_waiting{endpoint="app"} 1"#])
            #expect(
                try await series("oldest") == [
                    #"tenure_webhook_oldest_delivery_seconds{endpoint="app"} \#(queued)"#
                ])
            try await hooks.work()
            hooks.clock.advance(by: 60)
            try await hooks.work()
            #expect(
                try await series("attempts_total").map { $0.suffix(2) } == [" 1", " 1", " 0"])
            #expect(
                try await series("deliveries") == [#"tenure_webhook_deliveries_waiting{endpoint="app"} 0"#])
            #expect(try await series("oldest") == [])
        }
        try await receiver.close()
    }

    @Test func `metrics report the waiting messages of each webhook endpoint, and when the oldest was queued`()
        async throws
    {
        let webhooks = [
            Webhook.local(9, name: "all"), Webhook.local(9, name: "merges", events: ["customer.merged"]),
            Webhook.local(9, name: "policies", events: ["policy.published"]),
        ]
        try await withWebhooks(webhooks, { $0.metrics = .open }) { client, hooks in
            hooks.clock.advance(by: 60)
            _ = try await client.sync(try Calculator.owner("1"))
            let lines = String(buffer: try await client.get("/metrics").body).split(separator: "\n").map(String.init)
            let start = Int(Calculator.now.timeIntervalSince1970)
            #expect(
                lines.filter { $0.hasPrefix("tenure_webhook_deliveries_waiting{") } == [
                    #"tenure_webhook_deliveries_waiting{endpoint="all"} 2"#,
                    #"tenure_webhook_deliveries_waiting{endpoint="merges"} 0"#,
                    #"tenure_webhook_deliveries_waiting{endpoint="policies"} 1"#,
                ])
            #expect(
                lines.filter { $0.hasPrefix("tenure_webhook_oldest_delivery_seconds{") } == [
                    #"tenure_webhook_oldest_delivery_seconds{endpoint="all"} \#(start)"#,
                    #"tenure_webhook_oldest_delivery_seconds{endpoint="policies"} \#(start)"#,
                ])
        }
    }

    @Test func `at its start, a service sends waiting messages, and a slow endpoint delays no other endpoint`()
        async throws
    {
        try await withFolder { folder in
            let slow = try await Receiver { _, _ in .silence }
            let quick = try await Receiver()
            let webhooks = [Webhook.local(slow.port, name: "slow"), Webhook.local(quick.port, name: "quick")]
            let events = try await withWebhooks(in: folder, webhooks) { client, hooks in
                for number in 1...30 { _ = try await client.sync(try Calculator.owner(String(number))) }
                #expect(quick.received.isEmpty)
                return try await hooks.outbox().map(\.message.event)
            }
            #expect(events.count == 31)

            var configuration = try Calculator.configuration(folder)
            configuration.webhooks = webhooks
            configuration.webhookDelivery.interval = .milliseconds(20)
            let application = try await buildApplication(configuration: configuration, logger: Calculator.logger)
            try await application.test(.live) { _ in
                var arrived: Set<String> = []
                for await request in quick.requests {
                    arrived.insert(try #require(request.id))
                    if arrived.count == events.count { break }
                }
                #expect(arrived == Set(events))
                var waiting = slow.requests.makeAsyncIterator()
                _ = await waiting.next()
                // The slow endpoint has at most eight deliveries at once.
                #expect((1...8).contains(slow.received.count), "\(slow.received.count)")
                try await slow.close()
            }
            try await quick.close()
        }
    }

    @Test func `two processes with one database deliver each webhook message once`() async throws {
        try await withFolder { folder in
            let receiver = try await Receiver()
            try await withWebhooks(in: folder, [.local(receiver.port)]) { client, hooks in
                for number in 1...40 { _ = try await client.sync(try Calculator.owner(String(number))) }
                try await withWebhooks(in: folder, [.local(receiver.port)]) { _, others in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await hooks.work() }
                        group.addTask { try await others.work() }
                        try await group.waitForAll()
                    }
                }
            }
            let ids = receiver.received.compactMap(\.id)
            #expect(ids.count == 41 && Set(ids).count == 41)
            try await receiver.close()
        }
    }

    @Test func `a process without webhooks removes another process's endpoint only after many missed heartbeats`()
        async throws
    {
        try await withWebhooks([.local(9)]) { client, hooks in
            func registry(_ webhooks: [Webhook]) -> EndpointRegistry {
                var configuration = hooks.service.configuration
                configuration.webhooks = webhooks
                return EndpointRegistry(
                    configuration: configuration, store: hooks.service.store, logger: Calculator.logger)
            }
            let (own, other) = (registry(hooks.service.configuration.webhooks), registry([]))
            func waitingMessages(_ number: String) async throws -> Int {
                _ = try await client.sync(try Calculator.owner(number))
                return try await hooks.types().filter { $0 == "entitlement.granted" }.count
            }
            var silence = EndpointSilence()
            for _ in 0..<2 * EndpointSilence.maximum {
                hooks.clock.advance(by: 60)
                var ownSilence = EndpointSilence()
                try await own.pass(&ownSilence)
                try await other.pass(&silence)
            }
            #expect(try await waitingMessages("1") == 1)
            // An endpoint is removed after a number of passes, not after a time on the clock.
            hooks.clock.advance(by: 86_400)
            for _ in 1..<EndpointSilence.maximum { try await other.pass(&silence) }
            #expect(try await waitingMessages("2") == 2)
            try await other.pass(&silence)
            #expect(try await waitingMessages("3") == 2)
            // The endpoint's own process was only delayed. Its unsent changes are treated as sent.
            var ownSilence = EndpointSilence()
            try await own.pass(&ownSilence)
            #expect(try await waitingMessages("4") == 3)
        }
    }

    @Test func `a process with webhooks sends the changes that a process without webhooks stored`() async throws {
        try await withWebhooks([.local(9)]) { client, hooks in
            var configuration = hooks.service.configuration
            configuration.webhooks = []
            let other = try await TenureService(configuration, store: hooks.service.store)
            let application = Application(
                responder: try other.router().buildResponder(), logger: Calculator.logger)
            try await application.test(.router) { _ = try await Client(http: $0).sync(try Calculator.owner("1")) }
            while try await hooks.entitlementChanges.pass() {}
            #expect(try await hooks.types().filter { $0 == "entitlement.granted" }.count == 1)
        }
    }

    @Test func `delivered webhook messages are removed after the retention time`() async throws {
        let receiver = try await Receiver()
        for (setting, days) in [(nil, 30), (4, 4)] as [(Int?, Double)] {
            try await withWebhooks([.local(receiver.port)]) { configuration in
                if let setting { configuration.webhookSettings.retentionDays = setting }
            } _: { client, hooks in
                _ = try await client.sync(try Calculator.owner("1"))
                try await hooks.work()
                hooks.clock.advance(by: (days - 1) * 86_400)
                try await hooks.work()
                #expect(try await !hooks.outbox().isEmpty)
                hooks.clock.advance(by: 2 * 86_400)
                try await hooks.work()
                #expect(try await hooks.outbox().isEmpty)
            }
        }
        try await receiver.close()
    }
}
