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
}
