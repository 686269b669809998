import Foundation
import TenureCore
import Testing

@testable import Tenure

private let moods: [FakeStore.Mood] = [.throwsAnError, .hangs, .answersUnverified]

@Suite struct `A store that behaves badly` {
    @Test(arguments: moods)
    func `ends in undetermined with why, and in no denial`(_ mood: FakeStore.Mood) async {
        let store = FakeStore {
            $0.app = World.owner()
            $0.appMood = mood
            $0.transactionsMood = mood
        }
        let tenure = Device(store).start()
        let decision = await tenure.decision(for: "everything")
        #expect(decision.outcome == .undetermined)
        #expect(!decision.nextSteps.isEmpty)
        // As the policy has it for those of whom nothing is known.
        #expect(await tenure.allows("everything"))
        let failed = tenure.customer.steps.filter { if case .failed = $0.outcome { true } else { false } }
        #expect(failed.map(\.name) == [.appTransaction, .purchases])
        #expect(store.now.prompts == 0)
    }

    @Test(arguments: moods)
    func `takes nothing from an owner whom it once confirmed`(_ mood: FakeStore.Mood) async {
        let device = Device(FakeStore { $0.app = World.owner() })
        _ = await device.start().settled()
        device.store.change {
            $0.appMood = mood
            $0.transactionsMood = mood
        }
        // Long after every patience.
        device.time.now += 400 * World.day
        let tenure = device.start()
        _ = await tenure.settled()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .granted)
        #expect(device.store.now.prompts == 0)
    }

    @Test(arguments: moods)
    func `gives nothing to a newcomer whom it once refused`(_ mood: FakeStore.Mood) async {
        let device = Device(FakeStore { $0.app = World.newcomer() })
        #expect(await !device.start().allows("everything"))
        device.store.change {
            $0.appMood = mood
            $0.transactionsMood = mood
        }
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .undetermined)
    }

    @Test(arguments: moods)
    func `a subscription in its grace period is not denied where its state cannot be read`(_ mood: FakeStore.Mood) async
    {
        let store = FakeStore {
            $0.app = World.newcomer()
            $0.transactions = [World.subscription(until: World.now.addingTimeInterval(-World.day))]
            $0.renewalsMood = mood
        }
        let tenure = Device(store).start()
        #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        store.change {
            $0.renewalsMood = .answers
            $0.renewals = [
                StoreRenewal(
                    jws: "renewal",
                    renewal: Renewal(
                        originalTransactionID: "410000000000002", productID: World.yearly,
                        gracePeriodExpiresDate: World.now.addingTimeInterval(World.day), isInBillingRetryPeriod: true,
                        signedDate: World.now))
            ]
        }
        await tenure.engine.searchAgain()
        #expect(await tenure.decision(for: "cloud").outcome == .granted)
    }

    @Test func `is tried again, less and less often, until it answers`() async {
        let device = Device(
            FakeStore {
                $0.app = World.owner()
                $0.appMood = .throwsAnError
            })
        let tenure = device.start()
        for round in 1...12 {
            await device.time.sleeping(round)
            if round == 12 { device.store.change { $0.appMood = .answers } }
            device.time.wake()
        }
        await device.time.sleeping(13)
        #expect(device.time.slept.prefix(12) == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600])
        // Once it answered, the next look is a day away.
        #expect(device.time.slept.last == World.day)
        #expect(await tenure.decision(for: "everything").outcome == .granted)
        #expect(device.store.now.prompts == 0)
    }

    @Test func `patience is counted from the first time the device was seen, and outlives a reinstallation`() async {
        let device = Device(FakeStore { $0.appMood = .throwsAnError })
        #expect(await device.start().allows("everything"))
        device.time.now += 71 * 3600
        #expect(await device.start().allows("everything"))
        device.time.now += 2 * 3600
        // A start is what a reinstallation leaves: nothing but the keychain.
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .undetermined)
    }

    @Test func `a policy without patience allows nothing that is not known`() async {
        let device = Device(FakeStore { $0.appMood = .throwsAnError }, policy: World.policy(whileUndetermined: .deny))
        #expect(await !device.start().allows("everything"))
    }

    @Test(arguments: FakeStore.Mood.allCases)
    func `nothing but restore asks for a sign-in`(_ mood: FakeStore.Mood) async {
        let device = Device(
            FakeStore {
                $0.app = World.owner()
                $0.appMood = mood == .asksToSignIn ? .throwsAnError : mood
                $0.transactionsMood = mood == .asksToSignIn ? .throwsAnError : mood
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
