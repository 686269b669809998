import CalculatorSeller
import Foundation
import Testing

@testable import StoreKit

/// The texts and the order of values that an app shows.
@Suite(.timeLimit(.minutes(2))) struct ProductValueTests {
    @Test func `the units of subscription periods are ordered by length`() {
        let units: [Product.SubscriptionPeriod.Unit] = [.year, .day, .month, .week]
        #expect(units.sorted() == [.day, .week, .month, .year])
        #expect(units.map(\.localizedDescription) == ["year", "day", "month", "week"])
    }

    @Test func `a product has the last part of its ID as its name, and its ID as its description`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let monthly = try #require(try await Product.products(for: [Kiosk.monthly]).first)
            #expect(monthly.displayName == "Monthly")
            #expect(monthly.description == Kiosk.monthly)
            #expect(monthly.displayPrice == "$1.99")
            #expect(monthly.subscription?.groupDisplayName == Kiosk.group)
        }
    }

    @Test func `each error of StoreKit on Linux has its own sentence`() {
        let errors: [(error: StoreKitError, text: String)] = [
            (.unknown, "the App Store failed; try again later"), (.userCancelled, "the customer canceled"),
            (.systemError(LocalStore.Failure("there is no customer `Quinn`")), "there is no customer `Quinn`"),
            (.notAvailableInStorefront, "the product isn't sold in this storefront"),
            (.notEntitled, "the app lacks an entitlement of its code signature"),
            (.unsupported, "the product doesn't support this operation"),
        ]
        for (error, text) in errors { #expect(error.errorDescription == text) }
        let purchaseErrors: [(error: Product.PurchaseError, text: String)] = [
            (
                .invalidQuantity,
                "this quantity can't be bought; use 1, or up to 10 of a consumable or a non-renewing subscription"
            ),
            (.productUnavailable, "the product isn't for sale"),
            (.purchaseNotAllowed, "purchases aren't allowed on this device"),
            (.ineligibleForOffer, "this customer isn't eligible for the offer"),
            (.invalidOfferIdentifier, "the product has no offer with this ID"),
            (.invalidOfferPrice, "the price of the offer isn't valid"),
            (.invalidOfferSignature, "the signature of the offer isn't valid"),
            (.missingOfferParameters, "the offer has no ID"),
        ]
        for (error, text) in purchaseErrors { #expect(error.errorDescription == text) }
    }

    @Test func `each reason why a subscription ended has its own text`() {
        typealias Reason = Product.SubscriptionInfo.RenewalInfo.ExpirationReason
        let texts = (1...6).map { Reason(rawValue: $0).localizedDescription }
        #expect(
            texts == [
                "automatic renewal was switched off", "the renewal couldn't be charged",
                "the higher price wasn't accepted", "the product is no longer sold", "unknown", "unknown",
            ])
    }
}
