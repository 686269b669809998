import Foundation
import TenureAPI
import TenureCore
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

/// Holds each sync until the test lets it pass.
private struct HeldTransport: Transport {
    let next: any Transport
    private let syncs = AsyncStream.makeStream(of: Void.self)
    private let passes = AsyncStream.makeStream(of: Void.self)

    init(next: any Transport) { self.next = next }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        if request.url.path.hasSuffix("/v1/sync") {
            syncs.continuation.yield()
            for await _ in passes.stream { break }
        }
        return try await next.send(request)
    }

    func waitForSync() async { for await _ in syncs.stream { break } }

    func pass() { passes.continuation.yield() }

    func passAll() { passes.continuation.finish() }
}

@Suite(.timeLimit(.minutes(2))) struct `A response of the service` {
    @Test func `a revocation by support stays in effect after an offline relaunch`() async throws {
        try await RealService.run({ $0.adminKey = RealService.supportKey }) { service in
            // The bundled policy alone would grant it.
            let device = service.device(try .owner()) { $0.policy = .policy(InventedApp.policy()) }
            let tenure = device.start()
            #expect(await tenure.settled().has("everything"))
            try await service.revoke("everything")
            #expect(await tenure.refresh().answers["everything"]?.outcome == .denied)
            service.line.condition = .down
            for _ in 0..<2 {
                // After a day, the stored answer is no longer taken for the service's present answer.
                device.time.now += InventedApp.day
                let relaunched = device.start()
                #expect(await relaunched.decision(for: "everything").outcome == .undetermined)
                #expect(await !relaunched.allows("everything"))
            }
        }
    }

    @Test(arguments: [FakeStore.Behavior.hangs, .throwsAnError, .answersUnverified])
    func `a denial by the service leaves the answer undetermined if StoreKit didn't list the purchases`(
        _ behavior: FakeStore.Behavior
    ) async throws {
        try await RealService.run { service in
            // The service has once seen that there were no purchases, and still denies.
            let store = try FakeStore.newcomer()
            #expect(await service.device(store).start().settled().answers["everything"]?.outcome == .denied)
            let purchase = try InventedApp.signed(InventedApp.purchase(), of: "704000000000000002")
            store.change { state in
                state.transactions = [purchase]
                state.transactionsBehavior = behavior
            }
            // A reinstallation: nothing is stored on the device.
            let device = service.device(store)
            // The app transaction must be here by then, also on a busy machine.
            let tenure = device.start { $0.options.appStoreTimeout = 5 }
            _ = await tenure.settled()
            #expect(service.line.syncs == 2)
            #expect(service.lastAnswer?.entitlements["everything"]?.outcome == .denied)
            #expect(await tenure.decision(for: "everything").outcome == .undetermined)
            #expect(await tenure.allows("everything"))
            // It isn't stored as a denial either.
            #expect(await device.start().settled().allows("everything"))
            store.change { $0.transactionsBehavior = .answers }
            #expect(await device.start().settled().has("everything"))
        }
    }

    @Test func `a denial by the service leaves the answer undetermined if a subscription's state can't be read`()
        async throws
    {
        try await RealService.run { service in
            let ended = InventedApp.subscription(until: InventedApp.now.addingTimeInterval(-InventedApp.day))
            let subscription = try InventedApp.signed(ended, of: "704000000000000002")
            let store = try FakeStore.newcomer()
            store.change { state in
                state.transactions = [subscription]
                state.renewalsBehavior = .throwsAnError
            }
            let customer = await service.device(store).start().settled()
            #expect(service.lastAnswer?.entitlements["cloud"]?.outcome == .denied)
            #expect(customer.answers["cloud"]?.outcome == .undetermined)
        }
    }

    @Test func `a transaction that the service refused stays unfinished, even after a relaunch`() async throws {
        try await RealService.run { service in
            let store = try FakeStore.newcomer()
            // This transaction isn't signed.
            let refused = InventedApp.purchase(id: "410000000000001")
            let accepted = try InventedApp.signed(
                InventedApp.purchase(InventedApp.yearly, id: "410000000000009", type: .nonConsumable),
                of: "704000000000000002")
            store.change { state in
                state.transactions = [refused, accepted]
                state.unfinished = [refused, accepted]
            }
            let device = service.device(store)
            await device.start().refresh()
            #expect(service.lastAnswer?.problems.map(\.artifact) == ["transactions[0]"])
            #expect(store.now.finished == ["410000000000009"])
            service.line.condition = .down
            await device.start().refresh()
            #expect(store.now.finished == ["410000000000009"])
            #expect(store.now.unfinished == [refused])
        }
    }

    @Test func `a purchase that couldn't be sent is sent at the next start, not an hour later`() async throws {
        try await RealService.run { service in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let tenure = service.device(store, storage: storage).start()
            _ = await tenure.settled()
            let purchase = try InventedApp.signed(InventedApp.purchase(), of: "704000000000000002")
            store.change { $0.transactionsBehavior = .throwsAnError }
            // StoreKit delivers it, and doesn't list it: the service is asked without it.
            store.deliverUpdate(purchase)
            for await customer in tenure.updates where customer.has("everything") { break }
            await tenure.engine.searchAgain()
            #expect(service.lastAnswer?.purchases.isEmpty == true && store.now.finished.isEmpty)
            let later = try FakeStore.newcomer()
            later.change { state in
                state.transactions = [purchase]
                state.unfinished = [purchase]
            }
            let next = service.device(later, storage: storage).start()
            _ = await next.settled()
            #expect(service.lastAnswer?.purchases.count == 1)
            // Transactions are finished after the customer was published.
            while later.now.finished.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            #expect(later.now.finished == [purchase.purchase.transactionID])
        }
    }

    @Test func `news of a renewal are sent with the subscription's latest period`() {
        var account = Account()
        let periods = (1...3).map { month in
            AppStoreTransaction(
                jws: "\(month)", environment: .production, appTransactionID: nil,
                purchase: Purchase(
                    transactionID: "\(month)", originalTransactionID: "1", productID: InventedApp.yearly,
                    type: .autoRenewable, purchaseDate: InventedApp.date("2026-0\(month)-01"),
                    expiresDate: InventedApp.date("2026-0\(month + 1)-01"), signedDate: nil))
        }
        account.add(periods)
        account.unansweredTransactions = []
        account.add([
            Renewal(
                originalTransactionID: "1", productID: InventedApp.yearly,
                gracePeriodExpiresDate: InventedApp.date("2026-04-05"), isInBillingRetryPeriod: true, signedDate: nil)
        ])
        #expect(account.unansweredTransactions == ["3"])
    }

    @Test func `a transaction that the service refused is finished after the service accepts its signed form`()
        async throws
    {
        try await RealService.run { service in
            let store = try FakeStore.newcomer()
            let id = "410000000000001"
            // This transaction isn't signed.
            let refused = InventedApp.purchase(id: id)
            store.change { state in
                state.transactions = [refused]
                state.unfinished = [refused]
            }
            let device = service.device(store)
            await device.start().refresh()
            #expect(service.lastAnswer?.problems.map(\.artifact) == ["transactions[0]"])
            #expect(store.now.finished.isEmpty)
            let accepted = try InventedApp.signed(InventedApp.purchase(id: id), of: "704000000000000002")
            store.change { state in
                state.transactions = [accepted]
                state.unfinished = [accepted]
            }
            await device.start().refresh()
            #expect(service.lastAnswer?.problems.isEmpty == true)
            #expect(store.now.finished == [id])
        }
    }

    @Test func `a refund that arrives during a sync, and can't be sent after it, is sent at the next start`()
        async throws
    {
        try await RealService.run { service in
            let transport = HeldTransport(next: service.line)
            let account = "704000000000000002"
            let store = try FakeStore.newcomer()
            let bought = try InventedApp.signed(InventedApp.purchase(), of: account)
            store.change { $0.transactions = [bought] }
            let device = Device(store, policy: nil) { setup in
                setup.service = ServiceConnection(url: service.url, app: nil, timeout: 60, transport: transport)
                setup.keys = [service.key]
                setup.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            await transport.waitForSync()
            // The App Store refunds the purchase that the request contains.
            let refund = InventedApp.now.addingTimeInterval(-60)
            let refunded = try InventedApp.signed(
                InventedApp.purchase(revoked: refund, signed: refund), of: account)
            store.change { $0.transactions = [] }
            store.deliverUpdate(refunded)
            for await customer in tenure.updates where !customer.has("everything") { break }
            transport.pass()
            // The next request has the refund, and fails.
            await transport.waitForSync()
            service.line.condition = .down
            transport.passAll()
            await tenure.engine.waitForRunningSearch()
            let sent = service.line.syncs
            service.line.condition = .up
            let next = device.start()
            #expect(await !next.settled().has("everything"))
            #expect(service.line.syncs == sent + 1)
            #expect(service.lastAnswer?.entitlements["everything"]?.outcome == .denied)
        }
    }

    @Test func `a purchase that arrives while an earlier purchase is being sent is sent right after it`() async throws {
        try await RealService.run { service in
            let transport = HeldTransport(next: service.line)
            let account = "704000000000000002"
            let store = try FakeStore.newcomer()
            let device = Device(store) { setup in
                setup.service = ServiceConnection(url: service.url, app: nil, timeout: 60, transport: transport)
                setup.keys = [service.key]
            }
            let tenure = device.start()
            await transport.waitForSync()
            transport.pass()
            _ = await tenure.settled()
            store.deliverUpdate(try InventedApp.signed(InventedApp.purchase(), of: account))
            // This request has only the first purchase.
            await transport.waitForSync()
            let second = InventedApp.purchase(InventedApp.yearly, id: "410000000000009")
            store.deliverUpdate(try InventedApp.signed(second, of: account))
            for await customer in tenure.updates where customer.has("cloud") { break }
            // `process` of an app's own purchase waits for the same search.
            let search = try #require(await tenure.engine.pendingSearch)
            transport.passAll()
            await search.value
            #expect(service.line.syncs == 3)
            #expect(service.lastAnswer?.purchases.count == 2)
            #expect(store.now.finished.sorted() == ["410000000000001", "410000000000009"])
        }
    }

    @Test(arguments: [FakeStore.Behavior.answers, .throwsAnError])
    func `a response is ignored if another account signed in during the request`(_ appBehavior: FakeStore.Behavior)
        async throws
    {
        try await RealService.run { service in
            let transport = HeldTransport(next: service.line)
            let store = try FakeStore.owner()
            let bought = try InventedApp.signed(
                InventedApp.purchase(InventedApp.yearly, id: "410000000000009", type: .nonConsumable),
                of: "704000000000000001")
            store.change { state in
                state.appBehavior = appBehavior
                state.transactions = [bought]
                // Without it no entitlement token names the account.
                state.device = nil
            }
            let device = Device(store, policy: nil) { setup in
                setup.service = ServiceConnection(url: service.url, app: nil, timeout: 60, transport: transport)
                setup.keys = [service.key]
            }
            let tenure = device.start()
            await transport.waitForSync()
            // During the request another account signs in, which has fewer purchases.
            let purchase = try InventedApp.signed(InventedApp.purchase(), of: "704000000000000003")
            store.change { $0.transactions = [] }
            store.deliverUpdate(purchase)
            for await customer in tenure.updates where customer.has("everything") && !customer.has("cloud") { break }
            transport.pass()
            // The request for the new account has been sent, and has no response yet.
            await transport.waitForSync()
            let customer = tenure.customer
            #expect(
                customer.steps.first { $0.name == .service }?.outcome
                    == .failed("another account was signed in during the request"))
            #expect(customer.has("everything"))
            #expect(customer.answers["cloud"] == nil)
            transport.passAll()
            await tenure.refresh()
        }
    }
}
