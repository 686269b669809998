import Foundation
import TenureCore
import Testing

@testable import Tenure

/// Owners who were refunded and got the app again, with all artifacts that their device saw.
@Suite struct `Buying the app again` {
    /// Sold until May 15, 2015, free until June 15, sold until July 15, and free since.
    private static func policy() throws -> Policy {
        let begins = ["2015-05-15", "2015-06-15", "2015-07-15"].map(InventedApp.date)
        let models: [Era.Model] = [.free, .paid, .free]
        return try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "era0", model: .paid)]
                + begins.indices.map { place in
                    Era(
                        name: "era\(place + 1)", model: models[place],
                        begins: [.iOS: .at(version: AppVersion("\(100 + place)"), date: begins[place])],
                        changeover: .noWindow)
                },
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "everything", honors: [Honor(era: "era0"), Honor(era: "era2")]),
                Entitlement(
                    name: "cloud", honors: [Honor(era: "era2", boughtSince: InventedApp.date("2015-07-10"))]),
            ], whileUndetermined: .deny)
    }

    private static let refund = InventedApp.owner(
        signed: InventedApp.date("2015-05-11"), revoked: InventedApp.date("2015-05-10"))

    private static func signed(_ dates: [String]) -> [AppStoreAppTransaction] {
        dates.map { InventedApp.owner(signed: InventedApp.date($0)) }
    }

    // The artifact that restores the right is neither the first nor the last one after the refund.
    private static let signings =
        signed(["2015-01-05", "2015-02-05"]) + [refund]
        + signed(["2015-05-20", "2015-05-21", "2015-07-11", "2015-07-20", "2015-07-21", "2015-07-22"])

    @Test func `buying the app again after a refund restores the era's right, which later artifacts keep`()
        async throws
    {
        let device = Device(FakeStore(), policy: try Self.policy())
        var rights: [Bool] = []
        for app in Self.signings {
            device.store.change { $0.app = app }
            let customer = await device.start().settled()
            rights.append(customer.has("everything"))
        }
        #expect(rights == [true, true, false, false, false, true, true, true, true])
        device.store.change { $0.appBehavior = .throwsAnError }
        #expect(await device.start().settled().has("everything"))
    }

    @Test func `several processes keep the same proofs of an app bought again, in any order of reading`() throws {
        let expected = acquisitions(in: Self.signings.map(\.proof))
        for seed in 0..<100 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let base = StoredState(clock: InventedApp.now)
            var copies = [base, base, base]
            for app in Self.signings.shuffled(using: &generator) {
                copies[Int.random(in: copies.indices, using: &generator)].account.add(app)
            }
            let state = copies.reduce(base) { $1.merging($0, base: base, at: InventedApp.now) }
            #expect(acquisitions(in: state.account.proofs) == expected, "seed \(seed)")
            let stored = try JSONDecoder().decode(Account.self, from: JSONEncoder().encode(state.account))
            #expect(acquisitions(in: stored.proofs) == expected, "seed \(seed)")
        }
    }

    // If the artifacts are two days apart, every artifact that matters is kept. Over forty years, only the latest
    // artifacts are kept.
    @Test(arguments: [(2, 64, Decision.Outcome.granted), (25, 5, .undetermined)])
    func `the device stores a limited number of app transactions of an app that was bought again`(
        days: Int, revoked: Int, expected: Decision.Outcome
    ) throws {
        var account = Account()
        let first = InventedApp.date("2015-01-05")
        func instant(_ number: Int) -> Date { first.addingTimeInterval(Double(number * days) * InventedApp.day) }
        for number in 0..<600 {
            account.add(
                InventedApp.owner(signed: instant(number), revoked: number == revoked ? instant(number) : nil))
        }
        #expect(account.proofs.count <= 400)
        #expect(account.proofs.first?.signedDate == first)
        #expect(account.proofs.last?.signedDate == instant(599))
        #expect(account.acquisition?.refund != nil)
        let evidence = account.evidence(in: .production, purchasesAreComplete: true)
        #expect(decide(evidence, under: try Self.policy(), at: InventedApp.now).first?.outcome == expected)
    }
}
