import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `An entitlement token` {
    @Test func `of a service whose clock ran ahead does not keep out the right ones after it`() async throws {
        let clock = TestTime(World.now)
        try await RealService.run(now: { clock.now }) { service in
            let store = try FakeStore.newcomer()
            let end = World.now.addingTimeInterval(20 * World.day)
            let subscription = try World.signed(World.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            let device = service.device(store)
            let tenure = device.start()
            #expect(await tenure.allows("cloud"))
            clock.now = World.now.addingTimeInterval(400 * World.day)
            await tenure.engine.searchAgain()
            #expect(await !tenure.allows("cloud"))
            #expect(await tenure.engine.memory.time.now(World.now) == clock.now)
            // Another instance answers, now and after a new start.
            clock.now = World.now
            for tenure in [tenure, device.start()] {
                await tenure.engine.searchAgain()
                #expect(tenure.customer.steps.first { $0.name == .service }?.outcome == .done)
                #expect(await tenure.allows("cloud"))
                #expect(await tenure.engine.memory.time.now(World.now) == World.now)
            }
            service.line.condition = .down
            device.time.now = end
            #expect(await !device.start().allows("cloud"))
        }
    }

    @Test func `that answers another request is a replay, however new it is`() async throws {
        let clock = TestTime(World.now)
        try await RealService.run(now: { clock.now }) { service in
            let device = service.device(try .owner())
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            clock.now += 60
            await tenure.engine.searchAgain()
            let caught = try #require(service.line.answers.last)
            clock.now += World.day
            service.line.condition = .replaced { $0.body = caught }
            await tenure.engine.searchAgain()
            #expect(
                tenure.customer.steps.first { $0.name == .service }?.outcome
                    == .failed("its entitlement token does not answer this request"))
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `without the nonce that was sent is refused, and changes nothing`() async throws {
        let clock = TestTime(World.now)
        try await RealService.run(now: { clock.now }) { service in
            let transport = EditingTransport(next: service.line) { request in
                let text = String(decoding: request.body ?? Data(), as: UTF8.self)
                request.body = Data(text.replacingOccurrences(of: "\"nonce\"", with: "\"nothing\"").utf8)
            }
            let device = Device(try .owner(), policy: nil) { setup in
                setup.service = ServiceConnection(url: service.url, app: nil, deadline: 60, transport: transport)
                setup.keys = [service.key]
                setup.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            #expect(
                tenure.customer.steps.first { $0.name == .service }?.outcome
                    == .failed("its entitlement token does not answer this request"))
            #expect(await tenure.engine.memory.account.entitlementToken == nil)
        }
    }
}
