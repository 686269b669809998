import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Restoring` {
    @Test func `finds what the device did not have`() async throws {
        let store = FakeStore {
            $0.appMood = .throwsAnError
            $0.afterRestore = { state in
                state.app = World.owner()
                state.appMood = .answers
            }
        }
        let tenure = Device(store).start()
        _ = await tenure.settled()
        let restored = await tenure.restore()
        #expect(restored.signIn == .succeeded)
        #expect(restored.customer.has("everything"))
        #expect(store.now.prompts == 1)
    }

    @Test func `says when the customer closed the sign-in, and takes nothing away`() async {
        let store = FakeStore {
            $0.app = World.owner()
            $0.restoreMood = .asksToSignIn
        }
        let tenure = Device(store).start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.restore().signIn == .canceled)
        #expect(await tenure.allows("everything"))
    }

    @Test func `asks for no second sign-in after the customer closed the first`() async {
        let store = FakeStore {
            $0.appMood = .throwsAnError
            $0.restoreMood = .asksToSignIn
        }
        let tenure = Device(store).start()
        #expect(await tenure.restore().signIn == .canceled)
        #expect(store.now.prompts == 1)
    }

    @Test func `asks nobody where there is no App Store behind the app`() async {
        for distribution in [Tenure.Distribution.setapp, .direct] {
            let store = FakeStore { $0.distribution = distribution }
            let tenure = Device(store).start()
            #expect(await tenure.restore().signIn == .notAllowed(distribution.whyNotAsked))
            #expect(store.now.prompts == 0)
        }
    }
}

@Suite struct `Copies from elsewhere` {
    @Test(arguments: [Tenure.Distribution.setapp, .direct])
    func `are recognized before the store is asked anything`(_ distribution: Tenure.Distribution) async {
        let store = FakeStore {
            $0.distribution = distribution
            $0.app = World.owner()
        }
        let tenure = Device(store).start()
        let customer = await tenure.settled()
        #expect(store.now.appCalls == 0)
        #expect(store.now.listCalls == 0)
        for name in [Tenure.StoreStep.Name.appTransaction, .purchases] {
            let step = customer.steps.first { $0.name == name }
            #expect(step?.outcome == .skipped(distribution.whyNotAsked))
        }
        #expect(customer.answers["everything"]?.outcome == .undetermined)
        #expect(customer.answers["everything"]?.reasons.first?.code == "outsideAppStore")
    }

    @Test func `get what the app says`() async {
        let device = Device(FakeStore { $0.distribution = .setapp })
        #expect(await device.start { $0.options.outsideAppStore = .allow }.allows("everything"))
        #expect(await !device.start { $0.options.outsideAppStore = .deny }.allows("everything"))
    }

    @Test func `a development build is not asked for an app transaction, and its purchases count`() async {
        let store = FakeStore {
            $0.distribution = .development
            $0.transactions = [World.purchase(environment: .xcode)]
        }
        let tenure = Device(store).start()
        let customer = await tenure.settled()
        #expect(store.now.appCalls == 0)
        #expect(customer.has("everything"))
        #expect(await tenure.decision(for: "cloud").outcome == .denied)
    }
}

@Suite struct `Transactions` {
    @Test func `are finished once they are written down, and not before`() async {
        let device = Device(FakeStore { $0.app = World.newcomer() })
        let tenure = device.start()
        _ = await tenure.settled()
        device.storage.refusesWrites = true
        device.store.deliverUpdate(World.purchase())
        for await customer in tenure.updates where customer.has("everything") { break }
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished.isEmpty)
        device.storage.refusesWrites = false
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished == ["410000000000001"])
    }

    @Test func `wait for their content where the app says so, and the others don't`() async {
        let purchases = [World.purchase(), World.purchase(World.yearly, id: "9", type: .nonConsumable)]
        let device = Device(
            FakeStore {
                $0.app = World.newcomer()
                $0.transactions = purchases
                $0.unfinished = purchases
            })
        let tenure = device.start { $0.options.finishing = .afterContent(of: [World.everything]) }
        // Ends after everything is finished that may be.
        await tenure.refresh()
        #expect(await tenure.allows("everything"))
        #expect(device.store.now.finished == ["9"])
        await tenure.contentArrived(for: World.everything)
        #expect(device.store.now.finished == ["9", "410000000000001"])
    }

    @Test func `that nobody could verify are neither counted nor finished`() async {
        let device = Device(FakeStore { $0.app = World.newcomer() })
        let tenure = device.start()
        _ = await tenure.settled()
        device.store.deliverUnverified()
        device.store.deliverUpdate(World.purchase(World.yearly, id: "9", type: .nonConsumable))
        for await customer in tenure.updates where customer.has("cloud") { break }
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished == ["9"])
    }
}
