import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `A busy service` {
    @Test func `the client doesn't recheck a denial at a busy service before the time in Retry-After`() async throws {
        try await ServedApp.run(policy: nil) { app in
            let problem = Data(#"{"code": "busy", "detail": "the database is being backed up"}"#.utf8)
            app.service.line.condition = .replaced {
                $0 = TransportResponse(status: 503, headers: ["Retry-After": "1800"], body: problem)
            }
            let tenure = app.start { $0.sleep = { try await app.time.sleep($0) } }
            #expect(await !tenure.allows("everything"))
            #expect(app.service.line.syncs == 1)
            for _ in 0..<3 {
                app.time.now += 60
                #expect(await !tenure.allows("everything"))
            }
            #expect(app.service.line.syncs == 1)
            let why = "the service asked the client to wait before the next request"
            #expect(tenure.customer.steps.contains(Tenure.AppStoreStep(name: .service, outcome: .skipped(why))))
            // The customer's own actions don't wait.
            await tenure.refresh()
            #expect(app.service.line.syncs == 2)
            app.time.now += 1790
            #expect(await !tenure.allows("everything"))
            #expect(app.service.line.syncs == 2)
            app.service.line.condition = .up
            app.time.now += 60
            #expect(await !tenure.allows("everything"))
            #expect(app.service.line.syncs == 3)
            #expect(tenure.customer.answers["everything"]?.outcome == .denied)
        }
    }

    @Test func `the client sends a purchase at once although the service was busy before`() async throws {
        try await ServedApp.run(policy: nil) { app in
            app.service.line.condition = .replaced {
                $0 = TransportResponse(status: 503, headers: ["Retry-After": "1800"], body: Data())
            }
            let tenure = app.start()
            _ = await tenure.settled()
            app.service.line.condition = .up
            guard
                case .purchased(_, let customer) = try await tenure.purchase(try await product(InventedApp.everything))
            else { throw Unexpected() }
            #expect(customer.answers["everything"]?.outcome == .granted)
            try await app.served.finished(InventedApp.everything)
        }
    }
}

@Suite struct `The client without its service` {
    @Test func `a client without its service keeps a lifetime entitlement offline for 400 days`() async throws {
        try await RealService.run { service in
            let device = service.device(try .owner())
            #expect(await device.start().allows("everything"))
            service.line.condition = .down
            device.store.fallSilent()
            device.time.now += 400 * InventedApp.day
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .granted)
            // Waiting doesn't create a right that was never granted.
            #expect(await !tenure.allows("cloud"))
            #expect(device.store.now.prompts == 0)
        }
    }

    @Test func `a client without its service ends a subscription at the date in its entitlement token`() async throws {
        try await RealService.run { service in
            let end = InventedApp.now.addingTimeInterval(20 * InventedApp.day)
            let store = try FakeStore.newcomer()
            let subscription = try InventedApp.signed(InventedApp.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            let device = service.device(store)
            #expect(await device.start().settled().has("cloud"))
            service.line.condition = .down
            device.time.now = end.addingTimeInterval(-1)
            #expect(await device.start().allows("cloud"))
            device.time.now = end
            #expect(await !device.start().allows("cloud"))
            device.time.now = InventedApp.now
            #expect(await !device.start().allows("cloud"))
        }
    }

    @Test func `a client without its service keeps everything after a reinstallation that leaves only the keychain`()
        async throws
    {
        try await RealService.run { service in
            let first = service.device(try .owner())
            _ = await first.start().settled()
            service.line.condition = .down
            let again = service.device(FakeStore { $0.appBehavior = .throwsAnError }, storage: first.storage)
            #expect(await again.start().allows("everything"))
        }
    }

    @Test func `the client rejects an entitlement token of another device, even offline`() async throws {
        try await RealService.run { service in
            let first = service.device(try .owner())
            _ = await first.start().settled()
            service.line.condition = .down
            let storage = MemoryStateStorage(first.storage.contents)
            let copy = service.device(
                FakeStore {
                    $0.appBehavior = .throwsAnError
                    $0.device = InventedApp.otherDevice
                }, storage: storage)
            let tenure = copy.start { $0.options.whileUndetermined = .deny }
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .undetermined)
        }
    }

    @Test func `a client without its service decides with the bundled policy at the first launch`() async throws {
        try await RealService.run { service in
            service.line.condition = .down
            let device = service.device(try .owner()) {
                $0.policy = .policy(InventedApp.policy(whileUndetermined: .deny))
            }
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        }
    }

    @Test(arguments: [("1800", 1800.0), ("86400", 3600.0)])
    func `a client asks a busy service again after the time in Retry-After, but after an hour at most`(
        _ retryAfter: String, _ wait: Double
    ) async throws {
        try await RealService.run { service in
            let problem = Data(#"{"code": "busy", "detail": "the database is being backed up"}"#.utf8)
            service.line.condition = .replaced {
                $0 = TransportResponse(status: 503, headers: ["Retry-After": retryAfter], body: problem)
            }
            let device = service.device(try .owner())
            let tenure = device.start()
            await device.time.sleeping(1)
            #expect(device.time.slept == [wait])
            withExtendedLifetime(tenure) {}
        }
    }

    @Test func `a client forgets the time in Retry-After once the service has answered`() async throws {
        try await RealService.run { service in
            service.line.condition = .replaced {
                $0 = TransportResponse(status: 503, headers: ["Retry-After": "1800"], body: Data())
            }
            let device = service.device(try .owner())
            let tenure = device.start()
            await device.time.sleeping(1)
            service.line.condition = .up
            #expect(await tenure.refresh().has("everything"))
            device.time.wake()
            await device.time.sleeping(2)
            #expect(device.time.slept.last == 3600)
        }
    }
}
