public import Foundation
public import StoreKit
import TenureCore

extension Tenure {
    /// Returns what the customer should know before paying, in their language, such as `3 days free, then $24.99 per
    /// year`. It includes an offer only if this customer may have it.
    public func terms(of product: Product, in locale: Locale = .autoupdatingCurrent) async -> String {
        await productTerms(of: product).text(in: locale)
    }

    /// Returns a product's terms as a value, so that the app can sort, compare and format the terms itself.
    public func productTerms(of product: Product) async -> Tenure.ProductTerms {
        let style = product.priceFormatStyle
        var offer: Tenure.ProductTerms.Offer?
        if let subscription = product.subscription, let introduction = subscription.introductoryOffer {
            // If StoreKit doesn't say in time whether the customer may have the offer, leave it out.
            let isEligible = try? await withTimeout(setup.options.appStoreTimeout) {
                await subscription.isEligibleForIntroOffer
            }
            if isEligible == true { offer = Tenure.ProductTerms.Offer(introduction) }
        }
        let period =
            switch product.subscription {
            case let subscription?: CalendarPeriod(subscription.subscriptionPeriod)
            case nil: await catalog?.length(of: product.id)
            }
        return Tenure.ProductTerms(
            id: product.id, kind: product.type.kind, price: product.price, currencyCode: style.currencyCode,
            priceLocale: style.locale, period: period, offer: offer)
    }
}

extension Tenure.ProductTerms.Offer {
    fileprivate init?(_ offer: Product.SubscriptionOffer) {
        let period = CalendarPeriod(offer.period)
        switch offer.paymentMode {
        case .freeTrial: self.init(.free, period: period, count: offer.periodCount)
        case .payUpFront: self.init(.upFront(offer.price), period: period, count: offer.periodCount)
        case .payAsYouGo: self.init(.asYouGo(offer.price, period: period), period: period, count: offer.periodCount)
        default: return nil
        }
    }
}

extension CalendarPeriod {
    fileprivate init(_ period: Product.SubscriptionPeriod) {
        switch period.unit {
        case .year: self.init(months: 12 * period.value)
        case .month: self.init(months: period.value)
        case .week: self.init(days: 7 * period.value)
        default: self.init(days: period.value)
        }
    }
}

extension Product.ProductType {
    fileprivate var kind: Tenure.ProductTerms.Kind {
        switch self {
        case .nonConsumable: .nonConsumable
        case .nonRenewable: .nonRenewing
        case .autoRenewable: .autoRenewable
        default: .consumable
        }
    }
}
