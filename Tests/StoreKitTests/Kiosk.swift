import CalculatorSeller
import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenureAppStore
import TenureCore
import TenureMint

/// A local App Store that sells an invented app, and devices that use it.
struct Kiosk: CalculatorSeller {
    let store: LocalAppStore

    /// Creates a store with one customer, Ada, who bought build 37 on the first day.
    init(
        _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, owner: String? = "Ada"
    ) async throws {
        let state = AppStoreState(
            seed: "StoreKit", environment: environment, startingAt: Self.date(now),
            apps: [Self.app(gracePeriodDays: gracePeriodDays)])
        store = LocalAppStore(state, signer: AppStoreSigner(authority: Self.authority)) { _, _, _ in .success }
        if let owner {
            try await operation(.customer, owner)
            try await operation(.acquire, owner)
        }
    }

    func operation(
        _ kind: AppStoreOperation.Kind, _ customer: String? = nil,
        _ parameters: [AppStoreOperation.Parameter: String] = [:]
    ) async throws {
        var parameters = parameters
        parameters[.customer] = customer
        try await store.perform(AppStoreOperation(kind, parameters))
    }

    func buy(_ product: String, _ customer: String = "Ada") async throws {
        try await operation(.buy, customer, [.product: product])
    }

    func advance(_ length: String) async throws { try await operation(.advance, nil, [.by: length]) }

    func device(_ customer: String? = "Ada", named name: String = "first") async throws -> LocalStore {
        try await LocalStore(store, customer: customer, device: name)
    }
}

/// Returns what the customer may use now, as an app reads it.
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
