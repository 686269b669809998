import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `the client's answers over time` {
    @Test func `tenure.customer and tenure.allows agree at an owner's first offline start`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Ada") { device in
                device.behavior.isOffline = true
                let tenure = try served.start(policy: InventedApp.policy())
                #expect(tenure.customer.isResolving)
                let allowed = await tenure.allows("everything")
                #expect(allowed)
                let customer = await tenure.settled()
                #expect(customer.answers["everything"]?.outcome == .undetermined)
                #expect(customer.allows("everything"))
                // A name that the policy doesn't have is never allowed once the search has ended.
                #expect(!customer.allows("everythin"))
                #expect(await !tenure.allows("everythin"))
            }
        }
    }

    @Test func `tenure.customer and tenure.allows agree in a trial session`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start()
                _ = await tenure.settled()
                #expect(!tenure.customer.allows("everything"))
                var updates = tenure.updates.makeAsyncIterator()
                #expect(await updates.next()?.allows("everything") == false)
                let session = try await tenure.trial("everything").begin()
                #expect(await updates.next()?.allows("everything") == true)
                #expect(tenure.customer.allows("everything"))
                #expect(await tenure.allows("everything"))
                #expect(tenure.customer.answers["everything"]?.outcome == .denied)
                session.end()
                #expect(await updates.next()?.allows("everything") == false)
                #expect(await !tenure.allows("everything"))
            }
        }
    }

    @Test func `updates, tenure.customer and tenure.allows change together when a subscription or grace period ends`()
        async throws
    {
        let end = InventedApp.now.addingTimeInterval(10 * InventedApp.day)
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
        // No other update is published meanwhile.
        let tenure = device.start { $0.resolvingTimeout = 3600 }
        _ = await tenure.settled()
        let searches = device.store.now.listCalls
        var updates = tenure.updates.makeAsyncIterator()
        #expect(await updates.next()?.allows("cloud") == true)
        device.time.now = end
        #expect(await updates.next()?.allows("cloud") == false)
        #expect(!tenure.customer.allows("cloud"))
        // No new search was needed.
        #expect(device.store.now.listCalls == searches)
        #expect(await !tenure.allows("cloud"))

        let silent = Device(FakeStore { $0.appBehavior = .throwsAnError })
        let waiting = silent.start { $0.resolvingTimeout = 3600 }
        _ = await waiting.settled()
        var changes = waiting.updates.makeAsyncIterator()
        #expect(await changes.next()?.allows("everything") == true)
        silent.time.now = InventedApp.now.addingTimeInterval(72 * 3600)
        #expect(await changes.next()?.allows("everything") == false)
        #expect(!waiting.customer.allows("everything"))
        #expect(await !waiting.allows("everything"))
    }

    /// A running app of a subscriber, whom the client has granted `cloud`.
    private func subscriber(until end: Date) async -> (device: Device, tenure: Tenure) {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
        let tenure = device.start()
        #expect(await tenure.settled().has("cloud"))
        return (device, tenure)
    }

    @Test func `if a subscription ends and is renewed while purchases are read, allows waits for another search`()
        async throws
    {
        let end = InventedApp.now.addingTimeInterval(30)
        let (device, tenure) = await subscriber(until: end)
        let before = device.store.now.listCalls
        device.store.change { $0.isListingPaused = true }
        let refresh = Task { await tenure.refresh() }
        while device.store.now.listCalls == before { try await Task.sleep(nanoseconds: 1_000_000) }
        device.time.now = end
        device.store.change {
            $0.transactions.append(InventedApp.subscription(until: end.addingTimeInterval(86_400), id: "2"))
        }
        let answer = Task { await tenure.allows("cloud") }
        try await Task.sleep(nanoseconds: 100_000_000)
        device.store.change { $0.isListingPaused = false }
        #expect(await answer.value)
        _ = await refresh.value
    }

    @Test func `while purchases are read, allows waits for a renewed subscription instead of returning false`()
        async throws
    {
        let end = InventedApp.now.addingTimeInterval(30)
        let (device, tenure) = await subscriber(until: end)
        device.store.change {
            $0.transactions.append(InventedApp.subscription(until: end.addingTimeInterval(86_400), id: "2"))
            $0.isListingPaused = true
        }
        device.time.now = end
        let refresh = Task { await tenure.refresh() }
        // The app transaction was read again, the purchases weren't.
        for await customer in tenure.updates where !customer.has("cloud") { break }
        let answer = Task { await tenure.allows("cloud") }
        try await Task.sleep(nanoseconds: 100_000_000)
        device.store.change { $0.isListingPaused = false }
        #expect(await answer.value)
        _ = await refresh.value
    }

    @Test(arguments: [(300, 301), (864_000, 900)] as [(Double, Double)])
    func `the client reads StoreKit again just after the first of several rights ends, or in a quarter of an hour`(
        end: Double, wait: Double
    ) async {
        let now = InventedApp.now
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                // `everything` lasts longer than `cloud`.
                $0.transactions = [
                    InventedApp.subscription(until: now.addingTimeInterval(end), id: "1"),
                    InventedApp.purchase(id: "2", type: .autoRenewable, expires: now.addingTimeInterval(end + 400)),
                ]
            })
        let tenure = device.start()
        #expect(await tenure.settled().has("cloud"))
        await device.time.sleeping(1)
        #expect(device.time.slept.first == wait)
    }

    @Test func `isResolving becomes false after a timeout even if StoreKit never responds`() async throws {
        let device = Device(
            FakeStore {
                $0.appBehavior = .hangs
                $0.transactionsBehavior = .hangs
            }, policy: InventedApp.policy(whileUndetermined: .deny))
        let tenure = device.start {
            $0.options.appStoreTimeout = 3600
            $0.resolvingTimeout = 0.05
        }
        #expect(tenure.customer.isResolving)
        #expect(await !tenure.allows("everything"))
        #expect(!tenure.customer.isResolving)
    }
}

@Suite struct `A known denial` {
    @Test func `a known denial is checked again when the app asks a minute later, and not before`() async throws {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        device.store.change { $0.transactions = [InventedApp.purchase()] }
        device.time.now += 59
        #expect(await !tenure.allows("everything"))
        device.time.now += 1
        #expect(await tenure.allows("everything"))
    }

    @Test func `a known denial is returned within the timeout if the store hangs`() async throws {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start {
            $0.options.appStoreTimeout = 3600
            $0.recheckTimeout = 0.05
        }
        #expect(await !tenure.allows("everything"))
        device.store.change { $0.transactionsBehavior = .hangs }
        device.time.now += 60
        #expect(await !tenure.allows("everything"))
    }

    @Test func `a denial is checked again when the app becomes active or the network returns, at most every 10 s`()
        async throws
    {
        for event in [DeviceEvent.appBecameActive, .networkReturned] {
            let (events, occur) = AsyncStream.makeStream(of: DeviceEvent.self)
            let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
            let tenure = device.start { $0.events = { events } }
            #expect(await !tenure.allows("everything"))
            device.store.change { $0.transactions = [InventedApp.purchase()] }
            device.time.now += 9
            occur.yield(event)
            // Events are handled in order, so the first event has been ignored by then.
            device.time.now += 1
            occur.yield(event)
            for await customer in tenure.updates where customer.allows("everything") { break }
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `a known denial ends with a grant, after which the grace period applies again`() async throws {
        let base = InventedApp.policy()
        // One release gives owners an entitlement that other releases only sell.
        let generous = try Policy(
            app: base.app, eras: base.eras, buildNumbers: base.buildNumbers,
            entitlements: [
                Entitlement(name: "cloud", products: [.init(id: InventedApp.yearly)], honors: [Honor(era: "paid")])
            ])
        let device = Device(FakeStore { $0.app = InventedApp.owner() }, policy: base)
        #expect(await device.start().settled().answers["cloud"]?.outcome == .denied)
        device.store.change { $0.transactionsBehavior = .throwsAnError }
        let denied = device.start()
        #expect(await denied.decision(for: "cloud").outcome == .undetermined)
        #expect(await !denied.allows("cloud"), "a known denial")
        let granted = device.start { $0.policy = .policy(generous) }
        #expect(await granted.settled().has("cloud"))
        let tenure = device.start()
        #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        #expect(await tenure.allows("cloud"))
    }

    @Test func `refresh checks a known denial with StoreKit at once`() async throws {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        device.store.change { $0.transactions = [InventedApp.purchase()] }
        #expect(await tenure.refresh().allows("everything"))
        #expect(device.store.now.prompts == 0)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Restoring with StoreKit on the local App Store` {
    @Test func `restoring reads StoreKit even if the customer cancels the sign-in`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                _ = await tenure.settled()
                device.behavior.transactions = .fails(.unknown)
                try await served.store.perform(
                    AppStoreOperation(.buy, [.customer: "Dana", .product: InventedApp.everything]))
                device.behavior.transactions = .genuine
                device.behavior.signIn = .isCancelled
                let restored = await tenure.restore()
                #expect(restored.signIn == .canceled)
                #expect(restored.customer.allows("everything"))
            }
        }
    }

    @Test func `restoring stops waiting after its timeout, and a late sign-in unlocks the entitlement`()
        async throws
    {
        try await ServedStore.run { served in
            try await served.device(of: "Ada") { device in
                device.behavior.appTransaction = .fails(.unknown)
                let tenure = try served.start { $0.restoreTimeout = 0.1 }
                #expect(await !tenure.allows("everything"))
                device.behavior.signIn = .hangs
                let restored = await tenure.restore()
                #expect(restored.signIn == .waiting)
                #expect(!restored.customer.allows("everything"))
                // A second tap opens no second sign-in.
                _ = await tenure.restore()
                #expect(device.signInRequests == 1)
                device.behavior.appTransaction = .genuine
                device.behavior.signIn = .succeeds
                for await customer in tenure.updates where customer.allows("everything") { break }
                #expect(device.signInRequests == 1)
            }
        }
    }
}
