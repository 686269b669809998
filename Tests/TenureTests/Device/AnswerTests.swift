import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The device decides by itself` {
    @Test func `a customer who bought the app keeps everything, and a new customer doesn't get it`() async {
        let owner = Device(FakeStore { $0.app = InventedApp.owner() }).start()
        #expect(await owner.allows("everything"))
        #expect(await !owner.allows("cloud"))
        let newcomer = Device(FakeStore { $0.app = InventedApp.newcomer() }).start()
        #expect(await !newcomer.allows("everything"))
        let decision = await newcomer.decision(for: "everything")
        #expect(decision.outcome == .denied)
        #expect(decision.reasons.first?.code == "eraNotHonored")
        #expect(decision.sentence.contains("when it was free. In the app you can"))
    }

    @Test func `sentences from the client have titles in the customer's language`() async throws {
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID), eras: [Era(name: "always", model: .paid)],
            entitlements: [
                Entitlement(
                    name: "everything", title: ["en": "Everything", "de": "Alles"], honors: [Honor(era: "always")])
            ])
        let device = Device(FakeStore { $0.app = InventedApp.owner() }, policy: policy)
        let german = device.start { $0.options.languages = ["fr", "de-AT"] }
        #expect(await german.decision(for: "everything").sentence.hasPrefix("“Alles” is yours permanently: "))
        let french = device.start { $0.options.languages = ["fr"] }
        #expect(await french.decision(for: "everything").sentence.hasPrefix("“Everything” is yours permanently: "))
        let unknown = Device(FakeStore { $0.appBehavior = .throwsAnError }, policy: policy).start {
            $0.options.languages = ["de"]
        }
        #expect(await unknown.decision(for: "everything").sentence.contains("whether “Alles” is yours"))
    }

    @Test func `a customer who got the free app has the entitlement after a purchase`() async {
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.transactions = [InventedApp.purchase()]
        }
        #expect(await Device(store).start().allows("everything"))
    }

    @Test func `at an offline first launch after the update, an old app transaction unlocks the app`() async {
        // It was signed eleven years ago, and StoreKit answers no other call.
        let store = FakeStore {
            $0.app = InventedApp.owner(signed: InventedApp.date("2015-01-05"))
            $0.transactionsBehavior = .throwsAnError
        }
        let tenure = Device(store).start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").until == nil)
        #expect(tenure.acquisition?.originalAppVersion == "37")
        #expect(store.now.prompts == 0)
    }

    @Test func `the client returns a cached grant at once, while StoreKit hasn't responded yet`() async {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        _ = await device.start().settled()
        device.store.change {
            $0.appBehavior = .hangs
            $0.transactionsBehavior = .hangs
        }
        // With a timeout of an hour, an answer that waits would never come.
        let again = device.start { $0.options.appStoreTimeout = 3600 }
        #expect(await again.allows("everything"))
        #expect(again.acquisition?.originalAppVersion == "37")
    }

    @Test func `the client asks StoreKit again although it has a cached denial`() async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        #expect(await !device.start().allows("everything"))
        device.store.change { $0.transactions = [InventedApp.purchase()] }
        #expect(await device.start().allows("everything"))
    }

    @Test func `every start of the client reads the app transaction again in the background`() async {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        _ = await device.start().settled()
        let again = device.start()
        #expect(await again.allows("everything"))
        _ = await again.settled()
        #expect(device.store.now.appCalls == 2)
    }

    @Test func `another account's app transaction replaces the state of the first account`() async {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.owner()
                $0.transactions = [InventedApp.purchase(InventedApp.yearly, type: .nonConsumable)]
            })
        #expect(await device.start().allows("cloud"))
        device.store.change {
            $0.app = InventedApp.newcomer()
            $0.transactions = []
        }
        let tenure = device.start()
        let customer = await tenure.settled()
        #expect(customer.answers.values.allSatisfy { $0.outcome == .denied })
        #expect(await !tenure.allows("everything"))
        #expect(await !tenure.allows("cloud"))
        #expect(tenure.acquisition?.key.appTransactionID == "704000000000000002")
        // The first account gets everything back.
        device.store.change { $0.app = InventedApp.owner() }
        let back = device.start()
        _ = await back.settled()
        #expect(await back.allows("everything"))
    }

    @Test func `the previous account's app transaction counts again only if a list without purchases proves it`()
        async
    {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        #expect(await device.start().settled().has("everything"))
        func read(_ purchases: [AppStoreTransaction]) async -> Tenure.Customer {
            device.store.change { $0.transactions = purchases }
            return await device.start().settled()
        }
        let other = "704000000000000002"
        let why = "the app transaction belongs to another account than the purchases; Restore Purchases refreshes it"
        let stale = Tenure.AppStoreStep(name: .appTransaction, outcome: .failed(why))
        let coins = InventedApp.purchase("com.example.calculator.coins", id: "1", of: other, type: .consumable)
        let theme = InventedApp.purchase("com.example.calculator.theme", id: "2", of: other)
        // A used consumable is no longer listed, so an empty list doesn't show that its account has signed out.
        for purchases in [[coins], [], [theme]] {
            let customer = await read(purchases)
            #expect(!customer.has("everything") && customer.steps.contains(stale), "\(purchases.count)")
        }
        let back = await read([])
        #expect(back.has("everything") && !back.steps.contains(stale))
    }

    @Test func `another Apple Account is recognized by its purchase date if its app transaction has no ID`() async {
        let device = Device(FakeStore { $0.app = InventedApp.owner(id: nil) })
        #expect(await device.start().allows("everything"))
        device.store.change { $0.app = InventedApp.newcomer(id: nil) }
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await !tenure.allows("everything"))
    }

    @Test func `purchases of another account or of the sandbox grant nothing`() async {
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.transactions = [
                InventedApp.purchase(id: "1", of: "704000000000000009"),
                InventedApp.purchase(id: "2", environment: .sandbox),
            ]
        }
        #expect(await !Device(store).start().allows("everything"))
    }

    @Test func `a purchase in the sandbox grants nothing to the same account in production`() async {
        let store = FakeStore {
            $0.app = InventedApp.newcomer(environment: .sandbox)
            $0.transactions = [InventedApp.purchase(environment: .sandbox)]
        }
        let device = Device(store)
        #expect(await device.start().settled().has("everything"))
        store.change { state in
            state.app = InventedApp.newcomer()
            state.transactions = []
        }
        let customer = await device.start().settled()
        #expect(customer.environment == .production)
        #expect(customer.answers["everything"]?.outcome == .denied)
    }

    @Test func `a refund of the app ends the era rights on the device`() async {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        #expect(await device.start().allows("everything"))
        device.store.change {
            $0.app = InventedApp.owner(signed: InventedApp.now, revoked: InventedApp.now.addingTimeInterval(-60))
        }
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").reasons.first?.code == "appRefunded")
    }

    @Test func `the client never allows a misspelled entitlement, and reports it`() async {
        let lines = Locked<[String]>([])
        let device = Device(FakeStore { $0.app = InventedApp.owner() }) { setup in
            setup.options.log = Tenure.Log { level, line in lines.withLock { $0.append("\(level.rawValue): \(line)") } }
        }
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await !tenure.allows("everythin"))
        let decision = await tenure.decision(for: "everythin")
        #expect(decision.reasons.map(\.code) == ["unknownEntitlement"] && decision.outcome == .undetermined)
        #expect(decision.nextSteps == [.support])
        let text = "error: there is no entitlement `everythin`; check its spelling"
        #expect(lines.withLock { $0.filter { $0.contains("everythin`") } } == [text])
    }

    @Test func `the client's updates report the current state first, then every change`() async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start()
        var seen: [Bool] = []
        for await customer in tenure.updates where !customer.isResolving {
            seen.append(customer.has("everything"))
            if customer.has("everything") { break }
            device.store.deliverUpdate(InventedApp.purchase())
        }
        #expect(seen.first == false && seen.last == true)
        #expect(await tenure.allows("everything"))
    }
}
