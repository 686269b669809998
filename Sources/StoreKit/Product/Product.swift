public import Foundation
import TenureAppStore
import TenureJSON

/// A product that the app sells.
public struct Product: Identifiable, Sendable {
    public struct ProductType: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let consumable = ProductType(rawValue: "Consumable")
        public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
        public static let nonRenewable = ProductType(rawValue: "Non-Renewing Subscription")
        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")

        public var localizedDescription: String { rawValue }
    }

    /// The local App Store's description of the product, not in Apple's form.
    public let jsonRepresentation: Data
    public let id: String
    public let type: ProductType
    /// The name of the product: the last part of its ID, because a local App Store has no names.
    public let displayName: String
    public let description: String
    /// The price in the currency of the customer's storefront.
    public let price: Decimal
    /// The price as text for the customer.
    public let displayPrice: String
    public let isFamilyShareable: Bool
    /// The subscription's details. Never nil for auto-renewable subscriptions, always nil for other products.
    public let subscription: SubscriptionInfo?
    /// The format of the price. Use it for other amounts too, such as twice the price.
    public let priceFormatStyle: Decimal.FormatStyle.Currency

    /// Returns the products with these IDs that are on sale, at the prices of the customer's storefront. Unknown ones
    /// are left out.
    /// Throws a `StoreKitError` if the App Store doesn't answer.
    public static func products<Identifiers>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers: Collection, Identifiers.Element == String {
        try await LocalStore.required().products(Array(identifiers))
    }

    /// The customer's latest transaction of the product, in any state.
    public var latestTransaction: VerificationResult<Transaction>? {
        get async { await Transaction.latest(for: id) }
    }

    /// The transaction of this product that entitles the customer now. Nil without one.
    public var currentEntitlement: VerificationResult<Transaction>? {
        get async { await Transaction.currentEntitlement(for: id) }
    }

    /// The transactions that entitle the customer now: their own, and those shared by the family.
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
    public static func == (left: Product, right: Product) -> Bool {
        left.jsonRepresentation == right.jsonRepresentation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(jsonRepresentation) }
    public var debugDescription: String { String(decoding: jsonRepresentation, as: UTF8.self) }
}
