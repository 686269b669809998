import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// A service that accepts requests and never answers.
private struct HangingTransport: Transport {
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        try? await Task.sleep(nanoseconds: 3_600_000_000_000)
        throw .canceled
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A service that is down` {
    /// An app that waits only briefly for the service.
    private func withApp(
        policy: Policy?,
        _ body: @escaping @Sendable (RealService, LocalStore, @escaping @Sendable () -> Tenure) async throws -> Void
    ) async throws {
        try await ServedApp.run(policy: policy) { app in
            try await body(app.service, app.device) { app.start { $0.purchaseTimeout = 0.2 } }
        }
    }

    @Test(arguments: [true, false])
    func
        `a purchase during an outage is allowed despite an earlier denial, even after a relaunch`(
            _ hasPolicy: Bool
        ) async throws
    {
        try await withApp(policy: hasPolicy ? InventedApp.policy(whileUndetermined: .deny) : nil) {
            service, device, start in
            let tenure = start()
            #expect(await tenure.decision(for: "everything").outcome == .denied)
            service.line.condition = .down
            let result = try await tenure.purchase(try await product(InventedApp.everything))
            guard case .purchased(_, let customer) = result else { throw Unexpected() }
            #expect(customer.allows("everything"))
            #expect(await tenure.allows("everything"))
            let relaunched = start()
            _ = await relaunched.settled()
            #expect(await relaunched.allows("everything"))
            // Unfinished, because the service doesn't have it yet.
            var unfinished: [String] = []
            for await result in StoreKit.Transaction.unfinished {
                unfinished.append(result.unsafePayloadValue.productID)
            }
            #expect(unfinished == [InventedApp.everything])
            service.line.condition = .up
            #expect(await relaunched.refresh().answers["everything"]?.outcome == .granted)
            for await _ in StoreKit.Transaction.unfinished { Issue.record("a stored transaction is unfinished") }
        }
    }

    @Test func `a purchase during an outage is allowed even if its product is newer than the bundled policy`()
        async throws
    {
        let old = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "paid", model: .paid)],
            entitlements: [
                Entitlement(
                    name: "everything", honors: [Honor(era: "paid", boughtBefore: InventedApp.date("2015-01-01"))])
            ],
            whileUndetermined: .deny)
        try await withApp(policy: old) { service, _, start in
            let tenure = start()
            _ = await tenure.settled()
            service.line.condition = .down
            _ = try await tenure.purchase(try await product(InventedApp.everything))
            #expect(await tenure.allows("everything"))
            #expect(await start().settled().allows("everything"))
        }
    }

    @Test(arguments: [(bundled: 1, served: 3), (bundled: 3, served: 1)])
    func
        `a purchase during an outage lasts as long as the bundled policy or the service's products say, whichever is longer`(
            _ months: (bundled: Int, served: Int)
        ) async throws
    {
        let season = "com.example.calculator.season"
        func policy(months: Int) throws -> Policy {
            try Policy(
                app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .free)],
                entitlements: [
                    Entitlement(
                        name: "everything", products: [.init(id: season, length: CalendarPeriod(months: months))])
                ])
        }
        let bundled = try policy(months: months.bundled)
        try await RealService.run(policy: try policy(months: months.served)) { service in
            service.line.condition = .rejecting("/v1/sync")
            let store = try FakeStore.newcomer()
            store.change {
                $0.transactions = [
                    InventedApp.purchase(season, type: .nonRenewing, bought: InventedApp.date("2026-11-19T12:00:00Z"))
                ]
            }
            let customer = await service.device(store) { $0.policy = .policy(bundled) }.start().settled()
            #expect(customer.answers["everything"]?.until == InventedApp.date("2027-02-19T12:00:00Z"))
        }
    }

    @Test func `an outage of the service at the first start doesn't deny entitlements newer than the bundled policy`()
        async throws
    {
        try await RealService.run { service in
            service.line.condition = .down
            let device = service.device(try .owner()) {
                $0.policy = .policy(InventedApp.policy())
                $0.options.whileUndetermined = .allow(3600)
            }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(await tenure.allows("scanner"))
            #expect(await tenure.decision(for: "scanner").reasons.first?.code == "notAnswered")
            // Only the service knows all names.
            service.line.condition = .up
            await tenure.engine.searchAgain()
            #expect(await !tenure.allows("scanner"))
        }
    }

    @Test func `during an outage a new purchase extends a right that was signed with an earlier end`() async throws {
        try await RealService.run { service in
            let account = "704000000000000002"
            let end = InventedApp.now.addingTimeInterval(30 * InventedApp.day)
            let subscription = try InventedApp.signed(InventedApp.subscription(until: end), of: account)
            let store = try FakeStore.newcomer()
            store.change { $0.transactions = [subscription] }
            let device = service.device(store) { $0.policy = .policy(InventedApp.policy()) }
            #expect(await device.start().settled().answers["everything"]?.until == end)
            service.line.condition = .rejecting("/v1/sync")
            let bought = try InventedApp.signed(InventedApp.purchase(), of: account)
            store.change { $0.transactions = [subscription, bought] }
            let customer = await device.start().settled()
            #expect(customer.has("everything"))
            #expect(customer.answers["everything"]?.until == nil)
        }
    }

    @Test(arguments: [true, false])
    func `an outage of the service takes nothing from a subscriber in Apple's billing grace period`(
        _ hasPolicy: Bool
    ) async throws {
        try await RealService.run { service in
            let end = InventedApp.now.addingTimeInterval(10 * InventedApp.day)
            let store = try FakeStore.newcomer()
            let subscription = try InventedApp.signed(InventedApp.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            let device = service.device(store) { setup in
                if hasPolicy { setup.policy = .policy(InventedApp.policy()) }
                setup.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            #expect(await tenure.settled().has("cloud"))
            service.line.condition = .down
            device.time.now = end.addingTimeInterval(60)
            store.change { state in
                state.renewals = [
                    AppStoreRenewal(
                        jws: "renewal",
                        renewal: Renewal(
                            originalTransactionID: "410000000000002", productID: InventedApp.yearly,
                            gracePeriodExpiresDate: end.addingTimeInterval(6 * InventedApp.day),
                            isInBillingRetryPeriod: true, signedDate: end.addingTimeInterval(30)))
                ]
            }
            #expect(await tenure.allows("cloud"))
            #expect(await device.start().settled().allows("cloud"))
        }
    }

    @Test func `a consumable delivered during an outage is finished when the service answers after a relaunch`()
        async throws
    {
        try await withApp(policy: InventedApp.policy(whileUndetermined: .deny)) { service, _, start in
            let tenure = start()
            _ = await tenure.settled()
            service.line.condition = .down
            let result = try await tenure.purchase(try await product(ServedStore.coins))
            guard case .purchased(let transaction, _) = result else { throw Unexpected() }
            await tenure.contentArrived(for: transaction)
            var count = 0
            for await _ in StoreKit.Transaction.unfinished { count += 1 }
            #expect(count == 1)
            service.line.condition = .up
            await start().refresh()
            for await _ in StoreKit.Transaction.unfinished { Issue.record("a stored transaction is unfinished") }
        }
    }

    @Test func `a consumable delivered during an outage is finished later even if StoreKit failed meanwhile`()
        async throws
    {
        try await ServedApp.run(policy: InventedApp.policy(whileUndetermined: .deny)) { app in
            let tenure = app.start { $0.purchaseTimeout = 0.2 }
            _ = await tenure.settled()
            app.service.line.condition = .down
            guard
                case .purchased(let transaction, _) = try await tenure.purchase(try await product(ServedStore.coins))
            else { throw Unexpected() }
            await tenure.contentArrived(for: transaction)
            #expect(await app.served.unfinished() == [ServedStore.coins])
            // Its sequences are empty, as if nothing had been bought.
            app.device.behavior.transactions = .fails(.unknown)
            app.device.behavior.products = .fails(.unknown)
            await tenure.refresh()
            app.device.behavior.transactions = .genuine
            app.device.behavior.products = .genuine
            app.service.line.condition = .up
            await tenure.refresh()
            #expect(await app.served.unfinished() == [])
        }
    }

    @Test func `a purchase is finished after an outage and a relaunch if its content arrived during the outage`()
        async throws
    {
        try await ServedApp.run(policy: InventedApp.policy(whileUndetermined: .deny)) { app in
            let start: @Sendable () -> Tenure = {
                app.start {
                    $0.purchaseTimeout = 0.2
                    $0.options.finishing = .afterContent(of: [InventedApp.everything])
                }
            }
            let tenure = start()
            _ = await tenure.settled()
            app.service.line.condition = .down
            _ = try await tenure.purchase(try await product(InventedApp.everything))
            await tenure.contentArrived(for: InventedApp.everything)
            #expect(await app.served.unfinished() == [InventedApp.everything])
            app.service.line.condition = .up
            await start().refresh()
            #expect(await app.served.unfinished() == [])
        }
    }

    @Test func `a service that never responds doesn't delay the transactions that StoreKit delivers`() async throws {
        try await RealService.run { service in
            let store = try FakeStore.newcomer()
            let device = Device(store, policy: InventedApp.policy(whileUndetermined: .deny)) { setup in
                setup.service = ServiceConnection(
                    url: service.url, app: nil, timeout: 3600, transport: HangingTransport())
                setup.keys = [service.key]
                setup.resolvingTimeout = 0.05
            }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            store.deliverUpdate(InventedApp.purchase(id: "1"))
            store.deliverUpdate(InventedApp.purchase(InventedApp.yearly, id: "2", type: .nonConsumable))
            for await customer in tenure.updates where customer.has("everything") && customer.has("cloud") { break }
        }
    }

    @Test func `a purchase of an unknown product during an outage makes a denied entitlement undetermined again`()
        async throws
    {
        try await RealService.run { service in
            let store = try FakeStore.newcomer()
            let device = service.device(store)
            #expect(await device.start().settled().answers["everything"]?.outcome == .denied)
            service.line.condition = .down
            #expect(await !device.start().settled().allows("everything"))
            let purchase = try InventedApp.signed(
                InventedApp.purchase("com.example.calculator.new"), of: "704000000000000002")
            store.change { $0.transactions = [purchase] }
            // The answer is undetermined, so the policy's grace period applies again.
            let customer = await device.start().settled()
            #expect(customer.answers["everything"]?.outcome == .undetermined)
            #expect(customer.allows("everything"))
        }
    }
}
