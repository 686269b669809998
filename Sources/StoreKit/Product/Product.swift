public import Foundation
import TenureAppStore
import TenureJSON

/// A product that the app sells, as in Apple's `Product`. The data is from a local App Store.
///
/// Products are equal if the local App Store describes them alike, so the same product at another price differs.
public struct Product: Identifiable, Equatable, Hashable, CustomDebugStringConvertible, Sendable {
    /// The type of a product, which decides whether and how long a purchase entitles.
    public struct ProductType: RawRepresentable, Equatable, Hashable, Sendable {
        /// The text as in a transaction's `type`.
        public let rawValue: String

        /// Accepts any text, because Apple may add types.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Bought again and again. It is never among `Transaction.currentEntitlements`.
        public static let consumable = ProductType(rawValue: "Consumable")
        /// Bought once, and kept permanently.
        public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
        /// Ends after a time that only the app knows. It stays among `Transaction.currentEntitlements`.
        public static let nonRenewable = ProductType(rawValue: "Non-Renewing Subscription")
        /// Renews until it is canceled.
        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")

        /// The raw value in English; Apple's text is localized.
        public var localizedDescription: String { rawValue }
    }

    /// The local App Store's description of the product as JSON, with other fields than Apple's.
    public let jsonRepresentation: Data
    /// `jsonRepresentation` as text.
    public var debugDescription: String { String(decoding: jsonRepresentation, as: UTF8.self) }
    /// The product ID, as in App Store Connect and in `Transaction.productID`.
    public let id: String
    /// The type, such as a consumable or an auto-renewable subscription.
    public let type: ProductType
    /// The last part of the product ID, capitalized, because a local App Store has no names.
    public let displayName: String
    /// The product ID, because a local App Store has no descriptions.
    public let description: String
    /// The price in the currency of the customer's storefront.
    public let price: Decimal
    /// The price as text for the customer.
    public let displayPrice: String
    /// Whether family members also get the product. The local App Store's scenario file says so.
    public let isFamilyShareable: Bool
    /// The subscription's details. Never nil for auto-renewable subscriptions, always nil for other products.
    public let subscription: SubscriptionInfo?
    /// The format of the price. Use it for other amounts too, such as twice the price.
    public let priceFormatStyle: Decimal.FormatStyle.Currency

    /// Returns the products with these IDs that are on sale, at the prices of the customer's storefront. Unknown
    /// products are left out.
    /// Throws a `StoreKitError` if the App Store doesn't answer.
    public static func products<Identifiers>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers: Collection, Identifiers.Element == String {
        try await LocalStore.required().products(Array(identifiers))
    }

    /// The customer's latest transaction of the product, even if it is refunded or expired. Nil if the product was
    /// never bought.
    public var latestTransaction: VerificationResult<Transaction>? { get async { await Transaction.latest(for: id) } }

    /// The transaction of this product that entitles the customer now. Nil if there is no such transaction.
    public var currentEntitlement: VerificationResult<Transaction>? {
        get async { await Transaction.currentEntitlement(for: id) }
    }

    /// The transaction that entitles the customer now: their own, or one that the family shares. Empty without one.
    public var currentEntitlements: Transaction.Transactions { Transaction.currentEntitlements(for: id) }

    init?(_ json: JSONObject) {
        guard let id = json.text("id"), let type = json.text("type"), let price = json.amount("price"),
            let currency = json.text("currency")
        else { return nil }
        let style = Decimal.FormatStyle.Currency(
            code: currency, locale: Storefront.locale(ofCountry: json.text("storefront") ?? ""))
        jsonRepresentation = Data(JSONValue.object(json).bytes)
        self.id = id
        self.type = ProductType(rawValue: type)
        let name = id.split(separator: ".").last.map(String.init) ?? id
        displayName = name.prefix(1).uppercased() + name.dropFirst()
        description = id
        self.price = price
        displayPrice = price.formatted(style)
        isFamilyShareable = json.flag("isFamilyShareable") ?? false
        subscription = self.type == .autoRenewable ? SubscriptionInfo(json, style: style) : nil
        priceFormatStyle = style
    }

    /// How a purchase ended. Failures are thrown instead.
    public enum PurchaseResult: Sendable {
        /// The new transaction, or the transaction that the customer already has. Finish the transaction after
        /// delivery.
        case success(VerificationResult<Transaction>)
        /// The customer closed the system's purchase sheet. On Linux there is no sheet: a test sets
        /// `LocalStore.Behavior.purchases` to `isCancelled`.
        case userCancelled
        /// A person such as a parent must approve the purchase first. The transaction then arrives through
        /// `Transaction.updates`.
        case pending
    }

    /// Why a purchase isn't possible.
    public enum PurchaseError: Error, LocalizedError, Equatable, Hashable, Sendable {
        /// The quantity is less than 1 or more than 10. Or the quantity is more than 1, and the product is neither a
        /// consumable nor a non-renewing subscription.
        case invalidQuantity
        /// The local App Store doesn't sell the product, or no longer sells it.
        case productUnavailable
        /// `AppStore.canMakePayments` is false.
        case purchaseNotAllowed
        /// The offer is a promotional or win-back offer, and the customer never subscribed in the group.
        case ineligibleForOffer
        /// The product has no offer with this ID.
        case invalidOfferIdentifier
        /// The price of the offer is invalid. A purchase throws this error only if a test sets
        /// `LocalStore.Behavior.purchases` to it: a local App Store takes the price from the offer.
        case invalidOfferPrice
        /// The signature of the offer is invalid. A purchase throws this error only if a test sets
        /// `LocalStore.Behavior.purchases` to it: a local App Store doesn't check signatures of offers.
        case invalidOfferSignature
        /// The win-back offer has no ID.
        case missingOfferParameters

        /// English text by this package; Apple's text is localized.
        public var errorDescription: String? {
            switch self {
            case .invalidQuantity:
                "this quantity can't be bought; use 1, or up to 10 of a consumable or a non-renewing subscription"
            case .productUnavailable: "the product isn't for sale"
            case .purchaseNotAllowed: "purchases aren't allowed on this device"
            case .ineligibleForOffer: "this customer isn't eligible for the offer"
            case .invalidOfferIdentifier: "the product has no offer with this ID"
            case .invalidOfferPrice: "the price of the offer isn't valid"
            case .invalidOfferSignature: "the signature of the offer isn't valid"
            case .missingOfferParameters: "the offer has no ID"
            }
        }
    }

    /// Buys the product. If the customer already has this non-consumable or this running subscription, returns its
    /// transaction. Buying another product of a running subscription's group changes the plan.
    ///
    /// Throws a `StoreKitError` or a `PurchaseError`.
    @MainActor
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        try await LocalStore.required().purchase(self, options)
    }

    /// An option of a purchase. Unlike Apple's type, it has no options for StoreKit Testing in Xcode.
    public struct PurchaseOption: Equatable, Hashable, CustomDebugStringConvertible, Sendable {
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

        /// The option with its values. Apple's text differs.
        public var debugDescription: String { "\(kind)" }

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
