import Foundation

#if !os(macOS) && !os(watchOS)
    import UIKit
#endif

extension Product {
    public struct PurchaseOption: Hashable, Sendable {
        public static func appAccountToken(_ token: UUID) -> PurchaseOption { PurchaseOption() }
        public static func quantity(_ quantity: Int) -> PurchaseOption { PurchaseOption() }
        public static func simulatesAskToBuyInSandbox(_ simulateAskToBuy: Bool) -> PurchaseOption { PurchaseOption() }
        public static func custom(key: String, value: String) -> PurchaseOption { PurchaseOption() }
    }

    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    public enum PurchaseError: Error {
        case invalidQuantity
        case productUnavailable
        case purchaseNotAllowed
        case ineligibleForOffer
        case invalidOfferIdentifier
        case invalidOfferPrice
        case invalidOfferSignature
        case missingOfferParameters
    }

    #if !os(visionOS)
        @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult { .pending }
    #endif

    #if !os(macOS) && !os(watchOS)
        /// Since iOS 17.
        @MainActor public func purchase(
            confirmIn scene: some UIScene, options: Set<PurchaseOption> = []
        ) async throws -> PurchaseResult { .pending }
    #endif
}

#if os(iOS) || os(macOS)
    /// Since iOS 16.4.
    public struct PurchaseIntent: Sendable {
        public let product: Product

        public static var intents: PurchaseIntents { PurchaseIntents() }

        public struct PurchaseIntents: AsyncSequence {
            public typealias Element = PurchaseIntent

            public struct AsyncIterator: AsyncIteratorProtocol {
                public mutating func next() async -> PurchaseIntent? { nil }
            }

            public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
        }
    }
#endif
