// Variants of `Tenure.purchase(_:options:)` that use API of newer systems.
#if canImport(SwiftUI)
    public import StoreKit
    public import SwiftUI
    #if canImport(UIKit) && !os(watchOS)
        public import UIKit
    #endif

    extension Tenure {
        /// Purchases a product with SwiftUI's purchase action: `@Environment(\.purchase) private var purchase`. The
        /// action shows the confirmation in the window of the view that declares the action. In all other ways, this
        /// function works like `purchase(_:options:)`.
        @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
        @MainActor
        public func purchase(
            _ product: Product, using action: PurchaseAction, options: Set<Product.PurchaseOption> = []
        ) async throws -> PurchaseResult {
            try await purchase { try await action(product, options: options) }
        }

        #if canImport(UIKit) && !os(watchOS)
            /// Purchases a product and confirms the purchase in a scene. In all other ways it works like
            /// `purchase(_:options:)`.
            @available(iOS 17, tvOS 17, visionOS 1, *)
            @MainActor
            public func purchase(
                _ product: Product, confirmIn scene: some UIScene, options: Set<Product.PurchaseOption> = []
            ) async throws -> PurchaseResult {
                try await purchase { try await product.purchase(confirmIn: scene, options: options) }
            }
        #endif

        #if os(iOS) || os(macOS)
            /// Completes a purchase that the customer began in the App Store. In all other ways it works like
            /// `purchase(_:options:)`.
            @available(iOS 16.4, macOS 14.4, *)
            @MainActor
            public func purchase(
                _ intent: PurchaseIntent, options: Set<Product.PurchaseOption> = []
            ) async throws -> PurchaseResult {
                try await purchase(intent.product, options: options)
            }
        #endif
    }
#endif
