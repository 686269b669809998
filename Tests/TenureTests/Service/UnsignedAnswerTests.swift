import Foundation
import StoreKit
import TenureAPI
import TenureCore
import TenureServer
import Testing

@testable import Tenure

/// The service signs entitlements for a device only if it gets the app transaction.
@Suite(.timeLimit(.minutes(2))) struct `A purchase without an app transaction` {
    @Test(arguments: [true, false])
    func `a purchase without an app transaction is granted when the service confirms it, also offline later`(
        _ hasPolicy: Bool
    )
        async throws
    {
        try await ServedApp.run(policy: hasPolicy ? InventedApp.policy(whileUndetermined: .deny) : nil) { app in
            app.device.behavior.appTransaction = .fails(.unknown)
            let tenure = app.start()
            #expect(await !tenure.allows("everything"))
            guard
                case .purchased(_, let customer) = try await tenure.purchase(try await product(InventedApp.everything))
            else { throw Unexpected() }
            #expect(app.service.lastAnswer?.entitlementToken == nil)
            #expect(app.service.lastAnswer?.entitlements["everything"]?.outcome == .granted)
            #expect(customer.allows("everything"))
            #expect(await tenure.refresh().answers["everything"]?.outcome == .granted)
            try await app.served.finished(InventedApp.everything)
            #expect(await app.start().settled().has("everything"))
            app.service.line.condition = .down
            let offline = app.start()
            #expect(await offline.settled().has("everything"))
            #expect(await !offline.allows("cloud"))
        }
    }

    @Test(arguments: [true, false])
    func `a refund ends the grant of a purchase without an app transaction`(_ hasPolicy: Bool) async throws {
        try await ServedApp.run(policy: hasPolicy ? InventedApp.policy(whileUndetermined: .deny) : nil) { app in
            app.device.behavior.appTransaction = .fails(.unknown)
            let tenure = app.start()
            _ = try await tenure.purchase(try await product(InventedApp.everything))
            #expect(await tenure.allows("everything"))
            try await app.served.refund(InventedApp.everything, of: "Dana")
            for await customer in tenure.updates where !customer.allows("everything") { break }
            #expect(await !tenure.allows("everything"))
            #expect(await !app.start().settled().allows("everything"))
        }
    }

    @Test func `a development build grants a purchase without asking for the app transaction`() async throws {
        try await RealService.run { service in
            let store = FakeStore { $0.distribution = .development }
            let purchase = try InventedApp.signed(
                InventedApp.purchase(environment: .sandbox), of: "704000000000000002")
            store.change { $0.transactions = [purchase] }
            let device = service.device(store) { $0.options.whileUndetermined = .deny }
            let customer = await device.start().settled()
            #expect(customer.has("everything"), "\(customer)")
            #expect(store.now.appCalls == 0)
        }
    }

    @Test func `a purchase that support gave back is granted at the next start, even while the service is down`()
        async throws
    {
        let clock = Locked(InventedApp.now)
        try await RealService.run(now: { clock.withLock { $0 } }, { $0.adminKey = RealService.supportKey }) { service in
            let store = FakeStore { $0.distribution = .development }
            let purchase = try InventedApp.signed(
                InventedApp.purchase(environment: .sandbox), of: "704000000000000002")
            store.change { $0.transactions = [purchase] }
            let device = service.device(store) { $0.options.whileUndetermined = .deny }
            let tenure = device.start()
            #expect(await tenure.settled().has("everything"))
            try await service.revoke("everything")
            #expect(await tenure.refresh().answers["everything"]?.outcome == .denied)
            // Of two actions at one instant, the revocation counts.
            clock.withLock { $0 += 1 }
            try await service.grant("everything")
            #expect(await tenure.refresh().has("everything"))
            service.line.condition = .down
            // After a day, the stored answer is no longer taken for the service's present answer.
            device.time.now += 2 * InventedApp.day
            #expect(await device.start().settled().has("everything"))
        }
    }

    @Test func `a right from a subscription isn't extended by a purchase that the service refuses`()
        async throws
    {
        try await RealService.run { service in
            let end = InventedApp.now.addingTimeInterval(10 * InventedApp.day)
            let yearly = InventedApp.purchase(
                InventedApp.yearly, id: "410000000000002", type: .autoRenewable,
                bought: end.addingTimeInterval(-365 * InventedApp.day), expires: end, environment: .sandbox)
            let signed = try InventedApp.signed(yearly, of: "704000000000000002")
            let store = FakeStore { $0.distribution = .development }
            // The second one isn't signed. It would never end.
            store.change { $0.transactions = [signed, InventedApp.purchase(environment: .sandbox)] }
            let customer = await service.device(store).start().settled()
            let answer = try #require(customer.answers["everything"])
            #expect(answer.outcome == .granted && answer.until == end, "\(answer)")
        }
    }
}
