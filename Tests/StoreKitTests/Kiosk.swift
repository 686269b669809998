import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import TenureAppStore
import TenureCore
import TenureMint

/// An invented app in a local store of its own, and devices in front of it.
struct Kiosk: CalculatorSeller {
    let store: LocalAppStore

    /// With Ada, who bought build 37 on the day on which the world begins.
    init(
        _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, owner: String? = "Ada"
    ) async throws {
        let world = World(
            seed: "StoreKit", environment: environment, startingAt: Self.date(now),
            apps: [Self.app(gracePeriodDays: gracePeriodDays)])
        store = LocalAppStore(world, signer: StoreSigner(authority: Self.authority)) { _, _, _ in .success }
        if let owner {
            try await act(.customer, owner)
            try await act(.acquire, owner)
        }
    }

    func act(_ verb: Verb, _ customer: String? = nil, _ particulars: [Particular: String] = [:]) async throws {
        var particulars = particulars
        particulars[.customer] = customer
        try await store.perform(Act(verb, particulars))
    }

    func buy(_ product: String, _ customer: String = "Ada") async throws {
        try await act(.buy, customer, [.product: product])
    }

    func advance(_ length: String) async throws { try await act(.advance, nil, [.by: length]) }

    func device(_ customer: String? = "Ada", named name: String = "first") async throws -> LocalStore {
        try await LocalStore(store, customer: customer, device: name)
    }
}

/// What the customer may use now, as an app asks for it.
func entitledProducts() async -> [String] {
    var products: [String] = []
    for await result in StoreKit.Transaction.currentEntitlements {
        products.append(result.unsafePayloadValue.productID)
    }
    return products.sorted()
}

extension VerificationResult {
    var isVerified: Bool { if case .verified = self { true } else { false } }

    var problem: VerificationError? { if case .unverified(_, let error) = self { error } else { nil } }
}
