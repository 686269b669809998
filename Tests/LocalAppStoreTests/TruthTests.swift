import CalculatorSeller
import Foundation
import LocalAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

extension Dice {
    fileprivate mutating func pick<Element>(_ elements: [Element]) -> Element { elements[roll(elements.count)] }
}

/// One entitlement for each product that the world speaks of.
private func policy() throws -> Policy {
    try Policy(
        app: Policy.App(bundleID: Shop.bundleID, appleID: 828_838_134),
        eras: [Era(name: "free", model: .free)],
        buildNumbers: .increasing,
        entitlements: [Shop.everything, Shop.monthly, Shop.yearly, Shop.pro].map {
            Entitlement(name: $0, products: [.init(id: $0)])
        }, inDoubt: .favorCustomer, testEnvironments: .newCustomer)
}

@Test(arguments: [1, 2, 3, 4] as [UInt64])
func `whatever happens, devices and notifications prove what is true in the world`(_ seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    let founding = Founding(
        seed: "truth \(seed)", now: Shop.date("2026-01-01"),
        apps: [Shop.app(gracePeriodDays: seed.isMultiple(of: 2) ? 16 : nil, url: "in-process:")])
    let service = try DecidingService(
        policy: try policy(), anchors: Shop.authority.anchors, environment: .production)
    let store = LocalAppStore(founding.world, signer: Shop.signer) { payload, _, _ in
        // Signed in a world whose clock is ahead of any of ours: judged at the end of all of it.
        await service.receive(payload, at: Shop.date("2040-01-01"))
    }
    let names = ["Ada", "Byron", "Gwen", "Otto"]
    for name in names {
        var particulars: [Particular: String] = [.customer: name]
        if name != "Otto" { particulars[.family] = "Lovelace" }
        try await store.perform([Act(.customer, particulars), Act(.acquire, [.customer: name])])
        _ = try await service.open(try await store.artifacts(of: name), at: founding.now)
    }
    let verbs: [Verb] = [
        .buy, .buy, .buy, .cancel, .resume, .upgrade, .downgrade, .keepPlan, .failBilling, .recover, .consent, .refund,
        .reverseRefund, .declineRefund, .share, .unshare, .raisePrice, .advance, .advance, .advance,
    ]
    var happened = 0
    for _ in 0..<250 {
        var act = Act(dice.pick(verbs))
        for row in act.verb.particulars where row.isRequired {
            switch row.name {
            case .customer: act.particulars[.customer] = dice.pick(names)
            case .product:
                act.particulars[.product] = dice.pick([Shop.everything, Shop.monthly, Shop.yearly, Shop.pro])
            case .price: act.particulars[.price] = "\(dice.roll(30)).99"
            default: break
            }
        }
        if act.verb == .advance { act.particulars[.by] = "\(dice.roll(40))d" }
        // Much of it cannot happen, which is what the store is for.
        guard (try? await store.perform(act)) != nil else { continue }
        happened += 1
        let world = await store.world
        for name in names {
            let truth = try world.entitledProducts(of: name)
            let known = try #require(try await service.known(try await store.customer(name), at: world.now))
            let opened = try await service.open(try await store.artifacts(of: name), at: world.now)
            for (product, outcome) in opened {
                let expected: Decision.Outcome = truth.contains(product) ? .granted : .denied
                #expect(outcome == expected, "opened: \(name), \(product) after \(act) at \(world.now.rfc3339)")
                #expect(known[product] == expected, "known: \(name), \(product) after \(act) at \(world.now.rfc3339)")
            }
        }
    }
    #expect(happened > 50)
}
