public import Foundation

extension Product {
    /// An option of a purchase. Unlike Apple's type, it has no options for StoreKit Testing in Xcode.
    public struct PurchaseOption: Equatable, Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case appAccountToken(UUID)
            case quantity(Int)
            case promotionalOffer(String?)
            case winBackOffer(String?)
            case introductoryOfferEligibility(String)
            case askToBuy(Bool)
            case custom(key: String, value: String)
            case onStorefrontChange
        }

        let kind: Kind

        /// The account token that the transaction will have.
        public static func appAccountToken(_ token: UUID) -> PurchaseOption { .init(kind: .appAccountToken(token)) }

        /// The quantity to buy, from 1 to 10. Only for consumables and non-renewing subscriptions.
        public static func quantity(_ quantity: Int) -> PurchaseOption { .init(kind: .quantity(quantity)) }

        /// A promotional offer. A local App Store doesn't check the signature.
        public static func promotionalOffer(
            offerID: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int
        ) -> PurchaseOption { .init(kind: .promotionalOffer(offerID)) }

        /// A promotional offer. A local App Store doesn't check the signature.
        public static func promotionalOffer(
            offerID: String, signature: Product.SubscriptionOffer.Signature
        ) -> PurchaseOption { .init(kind: .promotionalOffer(offerID)) }

        /// A promotional offer. A local App Store doesn't check the signature.
        public static func promotionalOffer(_ offerID: String, compactJWS: String) -> [PurchaseOption] {
            [.init(kind: .promotionalOffer(offerID))]
        }

        /// A win-back offer for former subscribers.
        public static func winBackOffer(_ offer: Product.SubscriptionOffer) -> PurchaseOption {
            .init(kind: .winBackOffer(offer.id))
        }

        /// Has no effect: a local App Store decides by itself who gets the introductory offer.
        public static func introductoryOfferEligibility(compactJWS: String) -> PurchaseOption {
            .init(kind: .introductoryOfferEligibility(compactJWS))
        }

        /// Asks a parent for approval, in the sandbox. See `LocalStore.approvePurchases()`.
        public static func simulatesAskToBuyInSandbox(_ simulateAskToBuy: Bool) -> PurchaseOption {
            .init(kind: .askToBuy(simulateAskToBuy))
        }

        /// Has no effect: the storefront of a local App Store doesn't change during a purchase.
        public static func onStorefrontChange(
            shouldContinuePurchase: @escaping @Sendable (Storefront) -> Bool
        ) -> PurchaseOption { .init(kind: .onStorefrontChange) }

        /// A custom option, which a local App Store ignores.
        public static func custom(key: String, value: String) -> PurchaseOption {
            .init(kind: .custom(key: key, value: value))
        }

        /// A custom option, which a local App Store ignores.
        public static func custom(key: String, value: Double) -> PurchaseOption {
            .init(kind: .custom(key: key, value: "\(value)"))
        }

        /// A custom option, which a local App Store ignores.
        public static func custom(key: String, value: Bool) -> PurchaseOption {
            .init(kind: .custom(key: key, value: "\(value)"))
        }

        /// A custom option, which a local App Store ignores.
        public static func custom(key: String, value: Data) -> PurchaseOption {
            .init(kind: .custom(key: key, value: value.base64EncodedString()))
        }
    }
}

extension Product.PurchaseOption: CustomDebugStringConvertible {
    /// The option with its values. Apple's text differs.
    public var debugDescription: String { "\(kind)" }
}
