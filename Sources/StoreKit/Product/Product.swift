public import Foundation
import TenureAppStore
import TenureJSON

/// A product that the app sells, as in Apple's `Product`. The data is from a local App Store.
public struct Product: Identifiable, Sendable {
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
        /// Renews until it is canceled. Only this type has a `subscription`.
        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")

        /// The raw value in English; Apple's text is localized.
        public var localizedDescription: String { rawValue }
    }

    /// The local App Store's description of the product as JSON, with other fields than Apple's.
    public let jsonRepresentation: Data
    /// The product ID, as in App Store Connect and in `Transaction.productID`.
    public let id: String
    /// The type of the product. `subscription` is nil for all types except auto-renewable subscriptions.
    public let type: ProductType
    /// The name of the product: the last part of its ID, because a local App Store has no names.
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

    /// The transactions that entitle the customer now: their own transactions, and transactions that the family shares.
    public var currentEntitlements: Transaction.Transactions { Transaction.currentEntitlements(for: id) }
}

extension Product {
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
}

extension Product: Equatable, Hashable, CustomDebugStringConvertible {
    /// Compares the local App Store's descriptions, so the same product at another price differs.
    public static func == (left: Product, right: Product) -> Bool {
        left.jsonRepresentation == right.jsonRepresentation
    }

    /// Hashes the description, which `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(jsonRepresentation) }
    /// `jsonRepresentation` as text.
    public var debugDescription: String { String(decoding: jsonRepresentation, as: UTF8.self) }
}
