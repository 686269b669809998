import CalculatorSeller
import Foundation
import Hummingbird
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// Whether a notification reaches the developer's server, and the limits of requests.
@Suite struct `deliveries of the local App Store` {
    @Test func `a notification is delivered only if the app's URL answers with a status from 200 to 206`() async throws
    {
        let router = Router()
        router.post("status/{code}") { _, context in
            HTTPResponse.Status(code: context.parameters.get("code").flatMap { Int($0) } ?? 500)
        }
        try await withServer { onServerRunning in
            Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { await onServerRunning($0.localAddress?.port ?? 0) })
        } _: { port in
            var state = try Shop.state(of: "Ada")
            try state.buy(Shop.coins, "Ada")
            let notification = state.notifications[0]
            let cases: [(url: String, result: SendAttemptResult)] = [
                ("http://127.0.0.1:\(port)/status/200", .success), ("http://127.0.0.1:\(port)/status/206", .success),
                ("http://127.0.0.1:\(port)/status/207", .unsuccessfulStatus),
                ("http://127.0.0.1:\(port)/status/301", .unsuccessfulStatus),
                ("http://127.0.0.1:\(port)/status/404", .unsuccessfulStatus),
                ("http://127.0.0.1:\(port)/status/503", .unsuccessfulStatus),
                // No process listens on this port.
                ("http://127.0.0.1:9/", .noResponse), ("nonsense", .other),
            ]
            for (url, result) in cases {
                #expect(await HTTPNotificationSender.send("signed", url, notification) == result, "\(url)")
            }
        }
    }

    @Test func `notifications arrive an hour after the network was down, and never if it swallowed them`() async throws
    {
        let received = Locked<[Int]>([])
        let state = try Shop.state(of: "Ada", url: "https://example.com/hook")
        let sender: LocalAppStore.NotificationSender = { _, _, notification in
            received.withLock { $0.append(notification.index) }
            return .success
        }
        try await withStoreClient(state, sender: sender) { client async throws in
            let buy = AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins])
            func attempts(_ index: Int) async -> [SendAttemptResult] {
                await client.store.state.notifications[index].attempts.map(\.result)
            }
            try await client.store.perform([AppStoreOperation(.network, [.state: "down"]), buy])
            #expect(received.withLock { $0 }.isEmpty)
            #expect(await attempts(0) == [.noResponse])
            try await client.store.perform(AppStoreOperation(.network, [.state: "up"]))
            try await client.store.perform(AppStoreOperation(.advance, [.by: "59m"]))
            #expect(received.withLock { $0 }.isEmpty)
            try await client.store.perform(AppStoreOperation(.advance, [.by: "1m"]))
            #expect(received.withLock { $0 } == [0])
            #expect(await attempts(0) == [.noResponse, .success])
            try await client.store.perform([AppStoreOperation(.network, [.state: "swallowing"]), buy])
            try await client.store.perform(AppStoreOperation(.advance, [.by: "30d"]))
            #expect(received.withLock { $0 } == [0])
            #expect(await attempts(1) == [.success])
        }
    }

    @Test func `a notification without a URL isn't sent, and a URL that is set later gets only new ones`() async throws
    {
        let urls = Locked<[String]>([])
        let sender: LocalAppStore.NotificationSender = { _, url, _ in
            urls.withLock { $0.append(url) }
            return .success
        }
        try await withStoreClient(try Shop.state(of: "Ada"), sender: sender) { client async throws in
            let buy = AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins])
            try await client.store.perform(buy)
            try await client.store.perform([AppStoreOperation(.notifyAt, [.url: "https://example.com/a"]), buy])
            #expect(urls.withLock { $0 } == ["https://example.com/a"])
            try await client.store.perform([AppStoreOperation(.notifyAt), buy])
            #expect(urls.withLock { $0.count } == 1)
            #expect(await client.store.state.notifications.map { $0.attempts.count } == [0, 1, 0])
        }
    }

    @Test func `a rate limit counts the requests of one app and rate in an hour`() async throws {
        // A thousandth of the limit of an hour is 3.6 requests of one rate, and 36 of another.
        let limit = RateLimit(share: 0.001)
        let start = Date(timeIntervalSince1970: 3600 * 1000 + 10)
        func request(_ rate: RequestRate = .perSecond1, of app: String = "a", after seconds: Double = 0) async -> Date?
        {
            await limit.countRequest(rate, of: app, at: start.addingTimeInterval(seconds))
        }
        for _ in 0..<3 { #expect(await request() == nil) }
        let next = Date(timeIntervalSince1970: 3600 * 1001)
        #expect(await request() == next)
        #expect(await request(after: 3589) == next)
        #expect(await request(.perSecond10) == nil)
        #expect(await request(of: "b") == nil)
        #expect(await request(after: 3590) == nil)
        for _ in 0..<2 { #expect(await request(after: 3600) == nil) }
        #expect(await request(after: 3600) == Date(timeIntervalSince1970: 3600 * 1002))
        #expect(RequestRate.allCases.map(\.perHour) == [180_000, 72_000, 36_000, 3600])
    }
}
