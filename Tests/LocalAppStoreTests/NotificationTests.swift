import AsyncHTTPClient
import CalculatorSeller
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

@Test func `a notification is posted to the app's URL, and passes verification there`() async throws {
    let (bodies, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let router = Router()
    router.post("hook") { request, _ in
        continuation.yield(Array(try await request.body.collect(upTo: 1 << 20).readableBytesView))
        return request.headers[.contentType] == "application/json"
            ? HTTPResponse.Status.ok : HTTPResponse.Status.unsupportedMediaType
    }
    try await withServer { onServerRunning in
        Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { await onServerRunning($0.localAddress?.port ?? 0) })
    } _: { port in
        var state = Shop.state(url: "http://127.0.0.1:\(port)/hook")
        try state.addCustomer("Ada")
        let store = LocalAppStore(state, signer: Shop.signer, sender: HTTPNotificationSender.send)
        try await store.perform([
            AppStoreOperation(.acquire, [.customer: "Ada"]),
            AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.monthly]),
        ])
        var received = bodies.makeAsyncIterator()
        let body = try #require(await received.next())
        guard case .object(let object) = try JSONValue(parsing: body) else { throw NothingThere() }
        let payload = try #require(object.text("signedPayload"))
        let notification = try Shop.verifier.verifyNotification(Array(payload.utf8), now: state.now)
        #expect(notification.notification.payload.notificationType?.known == .subscribed)
        #expect(notification.notification.payload.subtype?.known == .initialBuy)
        #expect(notification.notification.payload.data?.status?.known == .active)
        #expect(notification.notification.payload.data?.bundleVersion == "37")
        #expect(await store.state.notifications[0].attempts.map(\.result) == [.success])
    }
}
