import Foundation
import TenureCore
import Testing

@testable import Tenure

/// The whole list of what the client has read, as an app shows it to support.
@Suite struct `The steps of a customer` {
    private typealias Step = Tenure.AppStoreStep

    @Test func `the steps of a first start and of a later start are complete and in order`() async {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        let later = [
            Step(name: .appTransaction, outcome: .done), Step(name: .purchases, outcome: .done),
            Step(name: .renewals, outcome: .skipped("there is no subscription")),
        ]
        let first = await device.start().settled().steps
        #expect(
            first
                == [
                    Step(name: .policy, outcome: .done),
                    Step(name: .localState, outcome: .skipped("nothing was stored yet")),
                ] + later)
        let second = await device.start().settled().steps
        #expect(
            second == [Step(name: .policy, outcome: .done), Step(name: .localState, outcome: .done)] + later)
    }

    @Test func `the steps say how much StoreKit couldn't verify`() async {
        let end = InventedApp.now.addingTimeInterval(InventedApp.day)
        let device = Device(
            FakeStore {
                $0.app = InventedApp.owner()
                $0.appBehavior = .answersUnverified
                $0.transactions = [InventedApp.subscription(until: end)]
                $0.renewalsBehavior = .answersUnverified
            })
        let steps = await device.start().settled().steps
        #expect(
            Array(steps.dropFirst(2)) == [
                Step(
                    name: .appTransaction,
                    outcome: .failed("StoreKit couldn't verify the app transaction: invalid signature")),
                Step(name: .purchases, outcome: .done),
                Step(name: .renewals, outcome: .failed("StoreKit couldn't verify 1 of 1 renewal infos")),
            ])
        device.store.change { $0.transactionsBehavior = .answersUnverified }
        let purchases = await device.start().settled().steps.first { $0.name == .purchases }
        #expect(purchases?.outcome == .failed("StoreKit couldn't verify 1 of 1 transactions"))
    }

    @Test func `the step of the local state says why a stored state isn't used`() async throws {
        let sound = Device(FakeStore { $0.app = InventedApp.owner() })
        _ = await sound.start().settled()
        let bytes = try #require(sound.storage.contents)
        let other = SealedState.seal(Data("{}".utf8), with: try sound.storage.secret())
        let states: [(bytes: Data, device: UUID, reason: String)] = [
            (
                bytes.dropLast(), InventedApp.device,
                "the state was changed or truncated, or is from another device"
            ),
            (other, InventedApp.device, "another release of Tenure wrote the state in another format"),
            (bytes, InventedApp.otherDevice, "the state is from another device"),
        ]
        for (bytes, id, reason) in states {
            let device = Device(
                FakeStore {
                    $0.app = InventedApp.owner()
                    $0.device = id
                }, storage: MemoryStateStorage(bytes))
            let step = await device.start().settled().steps.first { $0.name == .localState }
            #expect(step?.outcome == .failed(reason))
            // The state is replaced, so the next start has a state.
            let next = await device.start().settled().steps.first { $0.name == .localState }
            #expect(next?.outcome == .done)
        }
    }
}
