import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import TenureServer

/// What a delivery worker does with the endpoint's answers, and the exact body of messages.
@Suite struct `the results of webhook deliveries` {
    @Test func `only a 2xx delivers a webhook message, and Retry-After of a redirect is ignored`() async throws {
        let receiver = try await Receiver { _, count in
            switch count {
            case 0: .status(300, "Location: /elsewhere", "Retry-After: 36000")
            case 1: .status(399, "Location: /elsewhere")
            case 2: .status(400)
            case 3: .status(599)
            default: .status(299)
            }
        }
        try await withWebhooks([.local(receiver.port, events: ["entitlement.granted"])]) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            for _ in 0..<6 {
                try await hooks.work()
                hooks.clock.advance(by: 600)
            }
            let delivery = try #require(try await hooks.outbox().last?.deliveries.first)
            let redirect = "the endpoint redirects, and redirects aren't followed; set the final URL"
            #expect(delivery.attempts.map(\.status) == [300, 399, 400, 599, 299])
            #expect(
                delivery.attempts.map(\.detail) == [
                    redirect, redirect, "the endpoint answered 400", "the endpoint answered 599", nil,
                ])
            // The clock advances by ten minutes after each attempt.
            #expect(
                delivery.attempts.map { $0.at.timeIntervalSince(Calculator.now) } == [0, 600, 1200, 1800, 2400])
            #expect(delivery.deliveredAt == Calculator.now.addingTimeInterval(2400) && delivery.nextAttempt == nil)
            #expect(receiver.received.count == 5)
        }
        try await receiver.close()
    }

    @Test(.timeLimit(.minutes(2)))
    func `after five failures in a row, a webhook worker starts no further delivery until its next read`() async throws
    {
        try await withFolder { folder in
            let receiver = try await Receiver { _, _ in .status(500) }
            let webhooks = [Webhook.local(receiver.port, events: ["entitlement.granted"])]
            try await withWebhooks(in: folder, webhooks) { client, _ in
                for number in 1...30 { _ = try await client.sync(try Calculator.owner(String(number))) }
            }
            var configuration = try Calculator.configuration(folder)
            configuration.webhooks = webhooks
            // Only the first read of the outbox happens in this test.
            configuration.webhookDelivery.interval = .seconds(3600)
            let application = try await buildApplication(configuration: configuration, logger: Calculator.logger)
            try await application.test(.live) { _ in
                var count = 0
                for await _ in receiver.requests {
                    count += 1
                    // Eight at once, and one more after each of the first four failures.
                    if count == 12 { break }
                }
            }
            #expect(receiver.received.count == 12)
            try await receiver.close()
        }
    }

    @Test func `the body of a webhook message names the app, the time, the environment and the customer`()
        async throws
    {
        try await withWebhooks([.local(9)], { $0.adminKey = AdminClient.adminKey }) { client, hooks in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let owner = try await admin.owner()
            #expect(try await admin.delete(try owner.path()).status == .ok)
            let messages = try await hooks.outbox().map(\.message)
            let published = try #require(messages.first { $0.type == "policy.published" })
            let erased = try #require(messages.first { $0.type == "customer.erased" })
            func body(_ message: StoredMessage) -> String {
                String(decoding: message.body(app: "com.example.calculator"), as: UTF8.self)
            }
            let data = String(decoding: published.data, as: UTF8.self)
            let start = #""time":"2026-11-20T12:00:00Z","app":"com.example.calculator""#
            #expect(
                body(published) == #"{"id":"\#(published.event)","type":"policy.published",\#(start),"data":\#(data)}"#)
            let fields = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: String]
            let sha256 = hooks.service.policies.inEffect.sha256.hexadecimal
            #expect(fields == ["action": "start", "version": "1", "sha256": sha256])
            let expected: String =
                #"{"id":"\#(erased.event)","type":"customer.erased",\#(start),"environment":"Production","#
                + #""isTest":true,"customer":{"id":"\#(owner.id)"},"data":{}}"#
            #expect(body(erased) == expected)
        }
    }
}
