// What a file sees that imports both modules, as the compiler imports it in addition. Since iOS 17.

@_exported import StoreKit
@_exported import SwiftUI

@MainActor @preconcurrency public struct PurchaseAction {
    @MainActor @preconcurrency public func callAsFunction(
        _ product: Product, options: Set<Product.PurchaseOption> = []
    ) async throws -> Product.PurchaseResult { .pending }
}

extension EnvironmentValues {
    @MainActor @preconcurrency public var purchase: PurchaseAction { PurchaseAction() }
}
