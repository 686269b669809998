import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Restoring` {
    @Test func `restoring finds a purchase that the device didn't have`() async throws {
        let store = FakeStore {
            $0.appBehavior = .throwsAnError
            $0.afterRestore = { state in
                state.app = InventedApp.owner()
                state.appBehavior = .answers
            }
        }
        let tenure = Device(store).start()
        _ = await tenure.settled()
        let restored = await tenure.restore()
        #expect(restored.signIn == .succeeded)
        #expect(restored.customer.has("everything"))
        #expect(store.now.prompts == 1)
    }

    @Test func `restoring refreshes an app transaction that StoreKit still can't read after the sign-in`() async {
        let store = FakeStore {
            $0.app = InventedApp.owner()
            $0.appBehavior = .throwsAnError
        }
        let tenure = Device(store).start { $0.options.whileUndetermined = .deny }
        #expect(await !tenure.allows("everything"))
        let restored = await tenure.restore()
        #expect(restored.customer.has("everything"))
        #expect(store.now.prompts == 2, "the sign-in, and the refresh of the app transaction")
    }

    @Test func `restoring reports that the customer closed the sign-in, and takes nothing away`() async {
        let store = FakeStore {
            $0.app = InventedApp.owner()
            $0.restoreBehavior = .asksToSignIn
        }
        let tenure = Device(store).start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.restore().signIn == .canceled)
        #expect(await tenure.allows("everything"))
    }

    @Test func `restoring reports that the sign-in failed, and takes nothing away`() async {
        let store = FakeStore {
            $0.app = InventedApp.owner()
            $0.restoreBehavior = .throwsAnError
        }
        let tenure = Device(store).start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.restore().signIn == .failed("Failure()"))
        #expect(await tenure.allows("everything"))
    }

    @Test func `restoring asks for no second sign-in after the customer closed the first sign-in`() async {
        let store = FakeStore {
            $0.appBehavior = .throwsAnError
            $0.restoreBehavior = .asksToSignIn
        }
        let tenure = Device(store).start()
        #expect(await tenure.restore().signIn == .canceled)
        #expect(store.now.prompts == 1)
    }

    @Test func `restoring again while the sign-in is open shows no second sign-in`() async {
        let store = FakeStore {
            $0.app = InventedApp.owner()
            $0.restoreBehavior = .hangs
        }
        let tenure = Device(store).start { $0.options.restoreTimeout = 0.1 }
        #expect(await tenure.restore().signIn == .waiting)
        #expect(await tenure.restore().signIn == .waiting)
        #expect(store.now.prompts == 1)
    }

    @Test func `restoring in a development build shows one sign-in, because such a build has no app transaction`()
        async
    {
        let store = FakeStore {
            $0.distribution = .development
            $0.app = InventedApp.newcomer(environment: .xcode)
        }
        let tenure = Device(store).start()
        #expect(await tenure.restore().signIn == .succeeded)
        #expect(store.now.prompts == 1 && store.now.appCalls == 0)
        #expect(tenure.acquisition == nil)
    }

    @Test func `restoring shows no sign-in in a copy of the app from outside the App Store`() async {
        for distribution in [Tenure.Distribution.setapp, .direct] {
            let store = FakeStore { $0.distribution = distribution }
            let tenure = Device(store).start()
            #expect(await tenure.restore().signIn == .notAllowed(distribution.whyStoreKitIsNotCalled))
            #expect(store.now.prompts == 0)
        }
    }
}

@Suite struct `copies of the app from outside the App Store` {
    @Test(arguments: [Tenure.Distribution.setapp, .direct])
    func `a copy from outside the App Store is recognized before any call of StoreKit`(
        _ distribution: Tenure.Distribution
    ) async {
        let store = FakeStore {
            $0.distribution = distribution
            $0.app = InventedApp.owner()
        }
        let tenure = Device(store).start()
        let customer = await tenure.settled()
        #expect(store.now.appCalls == 0)
        #expect(store.now.listCalls == 0)
        for name in [Tenure.AppStoreStep.Name.appTransaction, .purchases] {
            let step = customer.steps.first { $0.name == name }
            #expect(step?.outcome == .skipped(distribution.whyStoreKitIsNotCalled))
        }
        #expect(customer.answers["everything"]?.outcome == .undetermined)
        #expect(customer.answers["everything"]?.reasons.first?.code == "outsideAppStore")
    }

    @Test func `a copy of the app from outside the App Store gets the entitlements that the app configures`() async {
        let device = Device(FakeStore { $0.distribution = .setapp })
        #expect(await device.start { $0.options.outsideAppStore = .allow }.allows("everything"))
        let denied = device.start { $0.options.outsideAppStore = .deny }
        #expect(await !denied.allows("everything"))
        #expect(!denied.customer.allows("everything") && !denied.customer.allows("another name"))
    }

    @Test func `without an option, a copy of the app from outside the App Store gets only the grace period`() async {
        let device = Device(FakeStore { $0.distribution = .direct })
        #expect(await device.start().settled().allows("everything"))
        device.time.now += 72 * 3600
        #expect(await !device.start().settled().allows("everything"))
        #expect(await device.start { $0.options.outsideAppStore = .allow }.settled().allows("another name"))
    }

    @Test func `a development build reads no app transaction, and its purchases grant entitlements`() async {
        let store = FakeStore {
            $0.distribution = .development
            $0.transactions = [InventedApp.purchase(environment: .xcode)]
        }
        let tenure = Device(store).start()
        let customer = await tenure.settled()
        #expect(store.now.appCalls == 0)
        #expect(customer.has("everything"))
        #expect(await tenure.decision(for: "cloud").outcome == .denied)
    }

    @Test func `a development build ignores purchases of production`() async {
        let store = FakeStore {
            $0.trustsTestAuthorities = false
            $0.distribution = .development
            $0.transactions = [InventedApp.purchase()]
        }
        #expect(await !Device(store).start().settled().has("everything"))
        store.change { $0.transactions = [InventedApp.purchase(environment: .sandbox)] }
        #expect(await Device(store).start().settled().has("everything"))
    }
}

@Suite struct `Transactions` {
    @Test func `transactions are finished after they are stored, and not before`() async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start()
        _ = await tenure.settled()
        device.storage.refusesWrites = true
        device.store.deliverUpdate(InventedApp.purchase())
        for await customer in tenure.updates where customer.has("everything") { break }
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished.isEmpty)
        device.storage.refusesWrites = false
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished == ["410000000000001"])
    }

    @Test func `transactions with content are finished after the content arrives, and other transactions at once`()
        async throws
    {
        let purchases = [
            InventedApp.purchase(), InventedApp.purchase(InventedApp.yearly, id: "9", type: .nonConsumable),
        ]
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = purchases
                $0.unfinished = purchases
            })
        let tenure = device.start { $0.options.finishing = .afterContent(of: [InventedApp.everything]) }
        await tenure.refresh()
        #expect(await tenure.allows("everything"))
        // The first search may still be finishing transaction 9, and then the second search leaves it alone.
        try await wait { !device.store.now.finished.isEmpty }
        #expect(device.store.now.finished == ["9"])
        await tenure.contentArrived(for: InventedApp.everything)
        try await wait { device.store.now.finished.count == 2 }
        #expect(device.store.now.finished == ["9", "410000000000001"])
    }

    @Test func `transactions of later periods are finished at once after the subscription's content has arrived`()
        async throws
    {
        let first = InventedApp.subscription(until: InventedApp.now.addingTimeInterval(InventedApp.day))
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [first]
                $0.unfinished = [first]
            }
        ) { $0.options.finishing = .afterContent(of: [InventedApp.yearly]) }
        let tenure = device.start()
        await tenure.refresh()
        #expect(device.store.now.finished.isEmpty)
        await tenure.contentArrived(for: InventedApp.yearly)
        try await wait { !device.store.now.finished.isEmpty }
        #expect(device.store.now.finished == ["410000000000002"])
        let renewed = Purchase(
            transactionID: "410000000000003", originalTransactionID: "410000000000002", productID: InventedApp.yearly,
            type: .autoRenewable, purchaseDate: first.purchase.expiresDate,
            expiresDate: first.purchase.expiresDate?.addingTimeInterval(365 * InventedApp.day),
            signedDate: InventedApp.now)
        device.store.deliverUpdate(
            AppStoreTransaction(
                jws: "renewed", environment: .production, appTransactionID: nil, purchase: renewed))
        try await wait { device.store.now.finished.count == 2 }
        #expect(device.store.now.finished == ["410000000000002", "410000000000003"])
    }

    @Test func `transactions that StoreKit couldn't finish are finished by the next search`() async {
        let purchases = [InventedApp.purchase()]
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = purchases
                $0.unfinished = purchases
                $0.finishBehavior = .throwsAnError
            })
        let tenure = device.start()
        await tenure.refresh()
        #expect(device.store.now.finished.isEmpty)
        device.store.change { $0.finishBehavior = .answers }
        await tenure.refresh()
        #expect(device.store.now.finished == ["410000000000001"])
    }

    @Test func `transactions of a new account are used while the app transaction is still the former account's`() async
    {
        let device = Device(FakeStore { $0.app = InventedApp.owner(id: "704000000000000001") })
        #expect(await device.start().settled().has("everything"))
        let purchase = InventedApp.purchase(InventedApp.yearly, of: "704000000000000002")
        device.store.change { $0.transactions = [purchase] }
        #expect(await device.start().settled().has("cloud"))
        // The next search can't list the purchases, and the app transaction is still that of the former account.
        device.store.change { $0.transactionsBehavior = .throwsAnError }
        #expect(await device.start().settled().has("cloud"))
    }

    @Test func `of two other accounts, only the transactions of the first account are used`() async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        _ = await device.start().settled()
        device.store.change {
            $0.transactions = [
                InventedApp.purchase(InventedApp.everything, id: "1", of: "704000000000000008"),
                InventedApp.purchase(InventedApp.yearly, id: "2", of: "704000000000000009"),
            ]
        }
        let customer = await device.start().settled()
        #expect(customer.has("everything") && !customer.has("cloud"))
    }

    @Test func `transactions that can't be verified are neither used nor finished`() async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start()
        _ = await tenure.settled()
        device.store.deliverUnverified()
        device.store.deliverUpdate(InventedApp.purchase(InventedApp.yearly, id: "9", type: .nonConsumable))
        for await customer in tenure.updates where customer.has("cloud") { break }
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished == ["9"])
    }
}
