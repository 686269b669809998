package import TenureAppStore
package import TenureCore

/// An in-app purchase that an app of the local App Store sells.
package struct AppStoreProduct: Codable, Sendable, Hashable {
    /// The product ID, such as `com.example.calculator.yearly`.
    package var id: String
    var type: ProductType
    /// The price in milliunits (thousandths of the currency's unit), for every storefront without a separate price.
    var price: Int64
    /// The separate prices in milliunits, by storefront code.
    var prices: [String: Int64]
    /// The name of a subscription's group: a customer has one product of a group at a time. Nil for other products.
    var group: String?
    /// The level of a subscription in its group. 1 is the highest level; changing to a smaller number is an upgrade.
    var level: Int
    /// How long one payment for a subscription lasts. Nil for other products.
    var period: CalendarPeriod?
    /// Whether the purchaser may share the product with the family.
    var isFamilyShareable: Bool
    /// The offers for a subscription, including the introductory offer.
    var offers: [SubscriptionOffer]
    /// Whether customers can buy the product. If false, its subscriptions don't renew either.
    var isOnSale = true

    /// Creates a product. A subscription without `group` is alone in its group, and without `period` it renews each
    /// month. Other products ignore both parameters.
    package init(
        id: String, type: ProductType, price: Int64, prices: [String: Int64] = [:], group: String? = nil,
        level: Int = 1, period: CalendarPeriod? = nil, isFamilyShareable: Bool = false, offers: [SubscriptionOffer] = []
    ) {
        self.id = id
        self.type = type
        self.price = price
        self.prices = prices
        self.group = type == .autoRenewable ? (group ?? id) : nil
        self.level = level
        self.period = type == .autoRenewable ? (period ?? CalendarPeriod(months: 1)) : nil
        self.isFamilyShareable = isFamilyShareable
        self.offers = offers
    }

    /// Returns the price in milliunits of the storefront's currency.
    func price(in storefront: Storefront) -> Int64 { prices[storefront.code] ?? price }

    /// The offer for customers who never had a subscription of the group; nil if the product has no such offer.
    var introductoryOffer: SubscriptionOffer? { offers.first { $0.type == .introductory } }
}

/// An offer for a subscription, of any `OfferType`.
package struct SubscriptionOffer: Codable, Sendable, Hashable {
    /// The offer's ID; nil for an introductory offer.
    var id: String?
    var type: OfferType
    var discount: OfferDiscountType
    /// The whole length of a free trial, or of an offer that is paid up front. For an offer that is paid as you go,
    /// this length is only reported: each payment is for the product's `period`.
    var period: CalendarPeriod
    /// The number of payments at the offer's price, for an offer that is paid as you go.
    var count = 1
    /// The price of each payment, in milliunits.
    var price: Int64 = 0

    /// The number of payments at the offer's price after the first. 0 for an offer that isn't paid as you go.
    var furtherPayments: Int { discount == .payAsYouGo ? count - 1 : 0 }
}

extension ProductType: Codable {}
extension OfferType: Codable {}
extension OfferDiscountType: Codable {}

/// The JSON is the length in ISO 8601, such as `P1M`.
extension CalendarPeriod: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let period = CalendarPeriod(iso8601: text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "`\(text)` isn't a calendar length such as `P1M`")
            )
        }
        self = period
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(iso8601)
    }
}
