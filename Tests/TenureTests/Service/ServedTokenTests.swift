import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `An entitlement token` {
    @Test func `a token of a service with a fast clock doesn't prevent later tokens with the correct time`()
        async throws
    {
        let clock = TestTime(InventedApp.now)
        try await RealService.run(now: { clock.now }) { service in
            let store = try FakeStore.newcomer()
            let end = InventedApp.now.addingTimeInterval(20 * InventedApp.day)
            let subscription = try InventedApp.signed(InventedApp.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            let device = service.device(store)
            let tenure = device.start()
            #expect(await tenure.allows("cloud"))
            clock.now = InventedApp.now.addingTimeInterval(400 * InventedApp.day)
            await tenure.engine.searchAgain()
            #expect(await !tenure.allows("cloud"))
            #expect(await tenure.engine.stored.time.now(InventedApp.now) == clock.now)
            // Another instance responds, now and after a restart.
            clock.now = InventedApp.now
            for tenure in [tenure, device.start()] {
                await tenure.engine.searchAgain()
                #expect(tenure.customer.steps.first { $0.name == .service }?.outcome == .done)
                #expect(await tenure.allows("cloud"))
                #expect(await tenure.engine.stored.time.now(InventedApp.now) == InventedApp.now)
            }
            service.line.condition = .down
            device.time.now = end
            #expect(await !device.start().allows("cloud"))
        }
    }

    @Test func `an entitlement token with another request's nonce is refused as a replay`()
        async throws
    {
        let clock = TestTime(InventedApp.now)
        try await RealService.run(now: { clock.now }) { service in
            let device = service.device(try .owner())
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            clock.now += 60
            await tenure.engine.searchAgain()
            let caught = try #require(service.line.answers.last)
            clock.now += InventedApp.day
            service.line.condition = .replaced { $0.body = caught }
            await tenure.engine.searchAgain()
            #expect(
                tenure.customer.steps.first { $0.name == .service }?.outcome
                    == .failed("the service's entitlement token doesn't answer this request"))
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `an entitlement token without the request's nonce is refused, and isn't stored`() async throws {
        let clock = TestTime(InventedApp.now)
        try await RealService.run(now: { clock.now }) { service in
            let transport = EditingTransport(next: service.line) { request in
                let text = String(decoding: request.body ?? Data(), as: UTF8.self)
                request.body = Data(text.replacingOccurrences(of: "\"nonce\"", with: "\"nothing\"").utf8)
            }
            let device = Device(try .owner(), policy: nil) { setup in
                setup.service = ServiceConnection(url: service.url, app: nil, timeout: 60, transport: transport)
                setup.keys = [service.key]
                setup.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            #expect(
                tenure.customer.steps.first { $0.name == .service }?.outcome
                    == .failed("the service's entitlement token doesn't answer this request"))
            #expect(await tenure.engine.stored.account.entitlementToken == nil)
        }
    }
}
