import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The device decides by itself` {
    @Test func `who paid keeps everything, and a newcomer does not get it`() async {
        let owner = Device(FakeStore { $0.app = World.owner() }).start()
        #expect(await owner.allows("everything"))
        #expect(await !owner.allows("cloud"))
        let newcomer = Device(FakeStore { $0.app = World.newcomer() }).start()
        #expect(await !newcomer.allows("everything"))
        let decision = await newcomer.decision(for: "everything")
        #expect(decision.outcome == .denied)
        #expect(decision.reasons.first?.code == "eraNotHonored")
        #expect(decision.sentence.contains("when it was free. In the app you can"))
    }

    @Test func `sentences have titles in the customer's language`() async throws {
        let policy = try Policy(
            app: Policy.App(bundleID: World.bundleID), eras: [Era(name: "always", model: .paid)],
            entitlements: [
                Entitlement(
                    name: "everything", title: ["en": "Everything", "de": "Alles"], honors: [Honor(era: "always")])
            ])
        let device = Device(FakeStore { $0.app = World.owner() }, policy: policy)
        let german = device.start { $0.options.languages = ["fr", "de-AT"] }
        #expect(await german.decision(for: "everything").sentence.hasPrefix("“Alles” is yours permanently: "))
        let french = device.start { $0.options.languages = ["fr"] }
        #expect(await french.decision(for: "everything").sentence.hasPrefix("“Everything” is yours permanently: "))
        let unknown = Device(FakeStore { $0.appMood = .throwsAnError }, policy: policy).start {
            $0.options.languages = ["de"]
        }
        #expect(await unknown.decision(for: "everything").sentence.contains("whether “Alles” is yours"))
    }

    @Test func `a purchase gives it to whoever came later`() async {
        let store = FakeStore {
            $0.app = World.newcomer()
            $0.transactions = [World.purchase()]
        }
        #expect(await Device(store).start().allows("everything"))
    }

    @Test func `offline at the first launch after the update, an old app transaction is enough`() async {
        // Signed eleven years ago, and nothing else answers.
        let store = FakeStore {
            $0.app = World.owner(signed: World.date("2015-01-05"))
            $0.transactionsMood = .throwsAnError
        }
        let tenure = Device(store).start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").until == nil)
        #expect(tenure.acquisition?.originalAppVersion == "37")
        #expect(store.now.prompts == 0)
    }

    @Test func `a cached grant answers at once, while the store still thinks`() async {
        let device = Device(FakeStore { $0.app = World.owner() })
        _ = await device.start().settled()
        device.store.change {
            $0.appMood = .hangs
            $0.transactionsMood = .hangs
        }
        // With a deadline of an hour, an answer that waited for anything would never come.
        let again = device.start { $0.options.storeTimeout = 3600 }
        #expect(await again.allows("everything"))
        #expect(again.acquisition?.originalAppVersion == "37")
    }

    @Test func `a cached denial never ends the search`() async {
        let device = Device(FakeStore { $0.app = World.newcomer() })
        #expect(await !device.start().allows("everything"))
        device.store.change { $0.transactions = [World.purchase()] }
        #expect(await device.start().allows("everything"))
    }

    @Test func `the app transaction is asked for behind every answer`() async {
        let device = Device(FakeStore { $0.app = World.owner() })
        _ = await device.start().settled()
        let again = device.start()
        #expect(await again.allows("everything"))
        _ = await again.settled()
        #expect(device.store.now.appCalls == 2)
    }

    @Test func `another account's app transaction discards what the first one had`() async {
        let device = Device(
            FakeStore {
                $0.app = World.owner()
                $0.transactions = [World.purchase(World.yearly, type: .nonConsumable)]
            })
        #expect(await device.start().allows("cloud"))
        device.store.change {
            $0.app = World.newcomer()
            $0.transactions = []
        }
        let tenure = device.start()
        let customer = await tenure.settled()
        #expect(customer.answers.values.allSatisfy { $0.outcome == .denied })
        #expect(await !tenure.allows("everything"))
        #expect(await !tenure.allows("cloud"))
        #expect(tenure.acquisition?.key.appTransactionID == "704000000000000002")
        // And the first one finds everything again.
        device.store.change { $0.app = World.owner() }
        let back = device.start()
        _ = await back.settled()
        #expect(await back.allows("everything"))
    }

    @Test func `an account without ids is told from another by its date`() async {
        let device = Device(FakeStore { $0.app = World.owner(id: nil) })
        #expect(await device.start().allows("everything"))
        device.store.change { $0.app = World.newcomer(id: nil) }
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await !tenure.allows("everything"))
    }

    @Test func `purchases of another account, or of the sandbox, do not count`() async {
        let store = FakeStore {
            $0.app = World.newcomer()
            $0.transactions = [
                World.purchase(id: "1", of: "704000000000000009"), World.purchase(id: "2", environment: .sandbox),
            ]
        }
        #expect(await !Device(store).start().allows("everything"))
    }

    @Test func `the refund of the app ends what came with it`() async {
        let device = Device(FakeStore { $0.app = World.owner() })
        #expect(await device.start().allows("everything"))
        device.store.change { $0.app = World.owner(signed: World.now, revoked: World.now.addingTimeInterval(-60)) }
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").reasons.first?.code == "appRefunded")
    }

    @Test func `a name that is misspelt is allowed to nobody, and said`() async {
        let tenure = Device(FakeStore { $0.app = World.owner() }).start()
        _ = await tenure.settled()
        #expect(await !tenure.allows("everythin"))
        #expect(await tenure.decision(for: "everythin").reasons.first?.code == "unknownEntitlement")
    }

    @Test func `updates tell of every change, the present first`() async {
        let device = Device(FakeStore { $0.app = World.newcomer() })
        let tenure = device.start()
        var seen: [Bool] = []
        for await customer in tenure.updates where !customer.isResolving {
            seen.append(customer.has("everything"))
            if customer.has("everything") { break }
            device.store.deliverUpdate(World.purchase())
        }
        #expect(seen.last == true)
        #expect(await tenure.allows("everything"))
    }
}
