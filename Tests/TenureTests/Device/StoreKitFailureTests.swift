import Foundation
import TenureCore
import Testing

@testable import Tenure

private let failures: [FakeStore.Behavior] = [.throwsAnError, .hangs, .answersUnverified]

@Suite struct `StoreKit failures` {
    @Test(arguments: failures)
    func `a StoreKit failure leads to undetermined decisions with a reason, not to denials`(
        _ behavior: FakeStore.Behavior
    )
        async
    {
        let store = FakeStore {
            $0.app = InventedApp.owner()
            $0.appBehavior = behavior
            $0.transactionsBehavior = behavior
        }
        let tenure = Device(store).start()
        let decision = await tenure.decision(for: "everything")
        #expect(decision.outcome == .undetermined)
        #expect(!decision.nextSteps.isEmpty)
        // The policy allows this for unknown customers.
        #expect(await tenure.allows("everything"))
        let failed = tenure.customer.steps.filter { if case .failed = $0.outcome { true } else { false } }
        #expect(failed.map(\.name) == [.appTransaction, .purchases])
        #expect(store.now.prompts == 0)
    }

    @Test func `a transaction that StoreKit can't finish doesn't keep the next transaction from being finished`()
        async throws
    {
        let purchases = [InventedApp.purchase(), InventedApp.purchase(InventedApp.yearly, id: "410000000000002")]
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.transactions = purchases
            $0.unfinished = purchases
            $0.unfinishable = ["410000000000001"]
        }
        let tenure = Device(store).start()
        await tenure.refresh()
        // The first search may still be finishing the transaction, and then the second search leaves it alone.
        try await wait { !store.now.finished.isEmpty }
        #expect(store.now.finished == ["410000000000002"])
        store.change { $0.unfinishable = [] }
        // The first search may still be failing to finish the transaction, and then the next search leaves it alone.
        try await wait {
            await tenure.refresh()
            return store.now.finished.count == 2
        }
        #expect(store.now.finished == ["410000000000002", "410000000000001"])
    }

    @Test(arguments: failures)
    func `a StoreKit failure takes nothing from an owner whom StoreKit confirmed before`(_ behavior: FakeStore.Behavior)
        async
    {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        _ = await device.start().settled()
        device.store.change {
            $0.appBehavior = behavior
            $0.transactionsBehavior = behavior
        }
        // Long after the grace period.
        device.time.now += 400 * InventedApp.day
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .granted)
        #expect(device.store.now.prompts == 0)
    }

    @Test(arguments: failures)
    func `a StoreKit failure gives nothing to a customer who was denied before`(_ behavior: FakeStore.Behavior) async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        #expect(await !device.start().allows("everything"))
        device.store.change {
            $0.appBehavior = behavior
            $0.transactionsBehavior = behavior
        }
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .undetermined)
    }

    @Test(arguments: failures)
    func `a subscription with an unreadable status is undetermined, because it may be in its grace period`(
        _ behavior: FakeStore.Behavior
    ) async {
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.transactions = [InventedApp.subscription(until: InventedApp.now.addingTimeInterval(-InventedApp.day))]
            $0.renewalsBehavior = behavior
        }
        let tenure = Device(store).start()
        #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        store.change {
            $0.renewalsBehavior = .answers
            $0.renewals = [
                AppStoreRenewal(
                    jws: "renewal",
                    renewal: Renewal(
                        originalTransactionID: "410000000000002", productID: InventedApp.yearly,
                        gracePeriodExpiresDate: InventedApp.now.addingTimeInterval(InventedApp.day),
                        isInBillingRetryPeriod: true,
                        signedDate: InventedApp.now))
            ]
        }
        await tenure.engine.searchAgain()
        #expect(await tenure.decision(for: "cloud").outcome == .granted)
    }

    @Test func `the client asks a failing StoreKit again, at growing intervals, until it responds`() async {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.owner()
                $0.appBehavior = .throwsAnError
            })
        let tenure = device.start()
        for round in 1...12 {
            await device.time.sleeping(round)
            if round == 12 { device.store.change { $0.appBehavior = .answers } }
            device.time.wake()
        }
        await device.time.sleeping(13)
        #expect(device.time.slept.prefix(12) == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600])
        // After an answer, the next read is a day later.
        #expect(device.time.slept.last == InventedApp.day)
        #expect(await tenure.decision(for: "everything").outcome == .granted)
        #expect(device.store.now.prompts == 0)
    }

    @Test func `the grace period while StoreKit fails runs from the first start, even after a reinstallation`()
        async
    {
        let device = Device(FakeStore { $0.appBehavior = .throwsAnError })
        #expect(await device.start().allows("everything"))
        device.time.now += 71 * 3600
        #expect(await device.start().allows("everything"))
        device.time.now += 2 * 3600
        // After a reinstallation, only the keychain is left.
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .undetermined)
    }

    @Test func `a StoreKit failure unlocks nothing for a new install under a policy without a grace period`() async {
        let device = Device(
            FakeStore { $0.appBehavior = .throwsAnError }, policy: InventedApp.policy(whileUndetermined: .deny))
        #expect(await !device.start().allows("everything"))
    }

    @Test(arguments: [true, false])
    func `the app's option whileUndetermined replaces the policy's value, whichever allows more`(
        _ optionAllows: Bool
    ) async {
        let allowed = Policy.WhileUndetermined.allow(3600)
        let device = Device(
            FakeStore { $0.appBehavior = .throwsAnError },
            policy: InventedApp.policy(whileUndetermined: optionAllows ? .deny : allowed))
        let tenure = device.start { $0.options.whileUndetermined = optionAllows ? allowed : .deny }
        #expect(await tenure.settled().allows("everything") == optionAllows)
        #expect(await device.start().settled().allows("everything") == !optionAllows)
    }

    @Test(arguments: FakeStore.Behavior.allCases)
    func `while StoreKit fails, the client shows a sign-in only for restore`(_ behavior: FakeStore.Behavior) async {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.owner()
                $0.appBehavior = behavior == .asksToSignIn ? .throwsAnError : behavior
                $0.transactionsBehavior = behavior == .asksToSignIn ? .throwsAnError : behavior
            })
        let tenure = device.start()
        _ = await tenure.allows("everything")
        _ = await tenure.decision(for: "cloud")
        await device.time.sleeping(1)
        device.time.wake()
        await device.time.sleeping(2)
        #expect(device.store.now.prompts == 0)
        await tenure.restore()
        #expect(device.store.now.prompts > 0)
    }
}
