import Foundation
import HummingbirdTesting
import Logging
import NIOCore
import StoreContract
import TenureAPI
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// What happens to a message that an endpoint doesn't accept.
@Suite struct `delivering webhooks again` {
    @Test func `a failing webhook endpoint gets a message again after growing delays, and after Retry-After`()
        async throws
    {
        let receiver = try await Receiver { _, count in
            switch count {
            case 0: .status(500)
            case 1: .status(503, "Retry-After: 3600")
            case 2: .status(301, "Location: /elsewhere")
            default: .ok
            }
        }
        try await withWebhooks([.local(receiver.port, events: ["entitlement.granted"])]) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            try await hooks.work()
            #expect(receiver.received.count == 1)
            hooks.clock.advance(by: 7)
            try await hooks.work()
            #expect(receiver.received.count == 1)
            hooks.clock.advance(by: 6)
            try await hooks.work()
            #expect(receiver.received.count == 2)
            hooks.clock.advance(by: 3599)
            try await hooks.work()
            #expect(receiver.received.count == 2)
            hooks.clock.advance(by: 1)
            try await hooks.work()
            hooks.clock.advance(by: 51)
            try await hooks.work()
            #expect(receiver.received.count == 4)
            #expect(Set(receiver.received.map(\.body)).count == 1)
            #expect(Set(receiver.received.compactMap { $0.headers["tenure-signature"] }).count == 4)
            let delivery = try #require(try await hooks.outbox().last?.deliveries.first)
            #expect(delivery.attempts.map(\.status) == [500, 503, 301, 200])
            #expect(
                delivery.attempts[2].detail
                    == "the endpoint redirects, and redirects aren't followed; set the final URL")
            #expect(delivery.deliveredAt != nil && delivery.nextAttempt == nil)
        }
        try await receiver.close()
    }

    @Test func `a webhook message is abandoned after three days, and a replay delivers the message`() async throws {
        let receiver = try await Receiver()
        let port = receiver.port
        try await receiver.close()
        try await withWebhooks([.local(port, events: ["entitlement.granted"])], { $0.metrics = .open }) {
            client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            for _ in 0..<200 {
                try await hooks.work()
                hooks.clock.advance(by: 1800)
            }
            let outbox = try await hooks.outbox()
            let delivery = try #require(outbox.last?.deliveries.first)
            #expect(delivery.nextAttempt == nil && delivery.deliveredAt == nil)
            #expect((15...30).contains(delivery.attempts.count), "\(delivery.attempts.count)")
            let metrics = String(buffer: try await client.get("/metrics").body)
            #expect(metrics.contains(#"tenure_webhook_attempts_total{endpoint="app",result="givenUp"} 1"#))
            let last = try #require(delivery.attempts.last)
            #expect(last.at <= Calculator.now.addingTimeInterval(3 * 86_400))
            #expect(last.at > Calculator.now.addingTimeInterval(2.5 * 86_400))
            let back = try await Receiver(port: port)
            let event = try #require(outbox.last?.message.event)
            #expect(try await hooks.service.store.write(at: hooks.clock.now) { try $0.replay(.event(event)) } == 1)
            try await hooks.work()
            #expect(back.received.map(\.id) == [event])
            try await back.close()
        }
    }

    @Test func `the log has a line for each failed webhook delivery, with the next attempt or the abandoned message`()
        async throws
    {
        let receiver = try await Receiver { _, count in .status(count == 0 ? 503 : 500, "Retry-After: 3600") }
        let lines = LogLines()
        let webhooks = [Webhook.local(receiver.port, events: ["entitlement.granted"])]
        try await withWebhooks(webhooks, logger: lines.logger(.notice)) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            try await hooks.work()
            let event = try #require(try await hooks.outbox().last?.message.event)
            func entries() throws -> [[String: Any]] {
                try lines.texts.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
            }
            let failed = try #require(try entries().first, "\(lines.texts)")
            #expect(try entries().count == 1)
            #expect(failed["message"] as? String == "a webhook delivery failed; trying again later")
            #expect(failed["event"] as? String == event && failed["endpoint"] as? String == "app")
            #expect(failed["retryIn"] as? String == "3600s" && failed["attempt"] as? String == "1", "\(failed)")
            for _ in 0..<200 {
                hooks.clock.advance(by: 1800)
                try await hooks.work()
            }
            let abandoned = try #require(try entries().last)
            #expect((abandoned["message"] as? String)?.hasPrefix("webhook message abandoned; ") == true, "\(abandoned)")
            #expect(abandoned["event"] as? String == event && abandoned["retryIn"] == nil)
            #expect(receiver.received.count > 10)
            #expect(try entries().count { $0["endpoint"] as? String == "app" } == receiver.received.count)
        }
        try await receiver.close()
    }

    @Test func `a webhook message that is replayed after three days is retried like a new message`() async throws {
        let receiver = try await Receiver { _, count in count < 2 ? .status(500) : .ok }
        try await withWebhooks([.local(receiver.port, events: ["entitlement.granted"])]) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            try await hooks.work()
            hooks.clock.advance(by: 4 * 86_400)
            let event = try #require(try await hooks.outbox().last?.message.event)
            #expect(try await hooks.service.store.write(at: hooks.clock.now) { try $0.replay(.event(event)) } == 1)
            try await hooks.work()
            hooks.clock.advance(by: 60)
            try await hooks.work()
            #expect(receiver.received.map(\.id) == [event, event, event])
            #expect(try await hooks.outbox().last?.deliveries.first?.deliveredAt == hooks.clock.now)
        }
        try await receiver.close()
    }

    @Test func `webhook messages about one customer arrive in order, even if the first attempt fails`() async throws {
        let receiver = try await Receiver { _, count in count == 0 ? .status(500) : .ok }
        try await withWebhooks([.local(receiver.port, events: ["entitlement.granted", "entitlement.revoked"])]) {
            client, hooks in
            let answer = try await client.sync(try Calculator.owner("1"))
            let identity = Identity(.appTransactionID, "1")
            let found = try await hooks.service.store.customer(by: identity, in: Realm(.production, isTest: true))
            let customer = try #require(found)
            let revocation = SupportGrant(.revocation, of: "everything", date: Calculator.now)
            _ = try await hooks.service.store.record(revocation, for: customer.id)
            try await hooks.work()
            #expect(receiver.received.count == 1)
            hooks.clock.advance(by: 13)
            try await hooks.work()
            #expect(
                receiver.received.compactMap(\.type) == [
                    "entitlement.granted", "entitlement.granted", "entitlement.revoked",
                ])
            #expect(receiver.received.allSatisfy { $0.customer["id"] as? String == answer.id })
        }
        try await receiver.close()
    }

    @Test func `a webhook endpoint that was down gets all its messages when it is back`() async throws {
        let first = try await Receiver { _, count in count < 3 ? .ok : .hangUp }
        let port = first.port
        try await withWebhooks([.local(port, events: ["entitlement.granted"])]) { client, hooks in
            for number in 1...10 { _ = try await client.sync(try Calculator.owner(String(number))) }
            try await hooks.work()
            try await first.close()
            hooks.clock.advance(by: 15)
            try await hooks.work()
            let second = try await Receiver(port: port)
            hooks.clock.advance(by: 60)
            try await hooks.work()
            let delivered = Set(first.received.prefix(3).compactMap(\.id)).union(second.received.compactMap(\.id))
            #expect(delivered == Set(try await hooks.outbox().map(\.message.event)))
            #expect(second.received.count == 7)
            try await second.close()
        }
    }

    @Test func `delays between webhook attempts double with jitter, respect Retry-After, and end after three days`() {
        let schedule = RetrySchedule()
        func delay(_ attempt: Int, retryAfter: TimeInterval? = nil, jitter: Double = 1) -> TimeInterval? {
            schedule.retry(
                after: attempt, queuedAt: Calculator.now, retryAfter: retryAfter, at: Calculator.now, jitter: jitter)?
                .timeIntervalSince(Calculator.now)
        }
        #expect((1...4).map { delay($0) } == [10, 20, 40, 80])
        #expect(delay(1, jitter: 0.75) == 7.5)
        #expect(delay(40) == 21_600)
        #expect(delay(1000) == 21_600)
        #expect(delay(1, retryAfter: 60) == 60)
        #expect(delay(4, retryAfter: 60) == 80)
        #expect(delay(1, retryAfter: -5) == 10)
        #expect(delay(1, retryAfter: 259_200) == 259_200)
        // A wait beyond the three days of retries, or an instant instead of seconds, is ignored.
        for asked in [259_201.0, 1_795_176_000, 1e300, .infinity] { #expect(delay(2, retryAfter: asked) == 20) }
        let late = Calculator.now.addingTimeInterval(3 * 86_400)
        #expect(schedule.retry(after: 9, queuedAt: Calculator.now, retryAfter: nil, at: late) == nil)
        #expect(RetrySchedule.retryAfter("120", at: Calculator.now) == 120)
        #expect(RetrySchedule.retryAfter("Fri, 20 Nov 2026 12:01:00 GMT", at: Calculator.now) == 60)
        #expect(RetrySchedule.retryAfter(" 120 ", at: Calculator.now) == 120)
        #expect(RetrySchedule.retryAfter("0", at: Calculator.now) == 0)
        #expect(RetrySchedule.retryAfter("Thu, 19 Nov 2026 12:00:00 GMT", at: Calculator.now) == 0)
        for ignored in [nil, "", "1e3", "1.5", String(repeating: "1", count: 64)] {
            #expect(RetrySchedule.retryAfter(ignored, at: Calculator.now) == nil)
        }
        #expect(RetrySchedule.retryAfter("soon", at: Calculator.now) == nil)
        #expect(RetrySchedule.retryAfter("-1", at: Calculator.now) == nil)
    }
}
