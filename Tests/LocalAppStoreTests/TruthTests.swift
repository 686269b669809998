import CalculatorSeller
import Foundation
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

extension SeededRandom {
    fileprivate mutating func pick<Element>(_ elements: [Element]) -> Element { elements[roll(elements.count)] }
}

/// One entitlement for each product.
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
func `after random operations, decisions from artifacts and notifications match the App Store's state`(_ seed: UInt64)
    async throws
{
    var random = SeededRandom(seed: seed)
    let header = JournalHeader(
        seed: "truth \(seed)", now: Shop.date("2026-01-01"),
        apps: [Shop.app(gracePeriodDays: seed.isMultiple(of: 2) ? 16 : nil, url: "in-process:")])
    let service = try DecidingService(
        policy: try policy(), anchors: Shop.authority.anchors, environment: .production)
    let store = LocalAppStore(header.state, signer: Shop.signer) { payload, _, _ in
        // The local clock is ahead of real time, so the service verifies at the end of the test's period.
        await service.receive(payload, at: Shop.date("2040-01-01"))
    }
    let names = ["Ada", "Byron", "Gwen", "Otto"]
    for name in names {
        var parameters: [AppStoreOperation.Parameter: String] = [.customer: name]
        if name != "Otto" { parameters[.family] = "Lovelace" }
        try await store.perform([
            AppStoreOperation(.customer, parameters), AppStoreOperation(.acquire, [.customer: name]),
        ])
        _ = try await service.openApp(try await store.artifacts(of: name), at: header.now)
    }
    let kinds: [AppStoreOperation.Kind] = [
        .buy, .buy, .buy, .cancel, .resume, .upgrade, .downgrade, .keepPlan, .failBilling, .recover, .consent, .refund,
        .reverseRefund, .declineRefund, .share, .unshare, .raisePrice, .advance, .advance, .advance,
    ]
    var happened = 0
    for _ in 0..<250 {
        var operation = AppStoreOperation(random.pick(kinds))
        for parameter in operation.kind.parameters where parameter.isRequired {
            switch parameter.name {
            case .customer: operation.parameters[.customer] = random.pick(names)
            case .product:
                operation.parameters[.product] = random.pick([Shop.everything, Shop.monthly, Shop.yearly, Shop.pro])
            case .price: operation.parameters[.price] = "\(random.roll(30)).99"
            default: break
            }
        }
        if operation.kind == .advance { operation.parameters[.by] = "\(random.roll(40))d" }
        // The store rejects the operations that aren't possible.
        guard (try? await store.perform(operation)) != nil else { continue }
        happened += 1
        let state = await store.state
        for name in names {
            let truth = try state.entitledProducts(of: name)
            let known = try #require(try await service.outcomes(of: try await store.customer(name), at: state.now))
            let opened = try await service.openApp(try await store.artifacts(of: name), at: state.now)
            for (product, outcome) in opened {
                let expected: Decision.Outcome = truth.contains(product) ? .granted : .denied
                #expect(outcome == expected, "opened: \(name), \(product) after \(operation) at \(state.now.rfc3339)")
                #expect(
                    known[product] == expected, "known: \(name), \(product) after \(operation) at \(state.now.rfc3339)")
            }
        }
    }
    #expect(happened > 50)
}
