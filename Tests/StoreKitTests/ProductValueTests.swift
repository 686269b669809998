import CalculatorSeller
import Foundation
import TenureJSON
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

    @Test func `each state of a subscription, kind of offer and answer to a price has its own text`() {
        typealias Info = Product.SubscriptionInfo
        let states = (1...6).map { Info.RenewalState(rawValue: $0).localizedDescription }
        #expect(
            states == ["subscribed", "expired", "in billing retry period", "in grace period", "revoked", "unknown"])
        let offers = (1...5).map { StoreKit.Transaction.OfferType(rawValue: $0).localizedDescription }
        #expect(offers == ["introductory offer", "promotional offer", "offer code", "win-back offer", "offer"])
        let answers: [Info.RenewalInfo.PriceIncreaseStatus] = [.noIncreasePending, .pending, .agreed]
        #expect(answers.map(\.localizedDescription) == ["no price increase", "waiting for consent", "agreed"])
        let owners = ["PURCHASED", "FAMILY_SHARED", "LENT"].map { StoreKit.Transaction.OwnershipType(rawValue: $0) }
        #expect(owners.map(\.localizedDescription) == ["purchased", "shared by the family", "purchased"])
        let reasons = [0, 1, 2].map { StoreKit.Transaction.RevocationReason(rawValue: $0).localizedDescription }
        #expect(reasons == ["another reason", "an issue in the app", "another reason"])
        typealias Problem = VerificationResult<AppTransaction>.VerificationError
        let problems: [Problem] = [
            .revokedCertificate, .invalidCertificateChain, .invalidDeviceVerification, .invalidEncoding,
            .invalidSignature, .missingRequiredProperties,
        ]
        #expect(
            problems.map(\.errorDescription) == [
                "a certificate was revoked", "the certificates don't lead to the App Store",
                "the value was signed for another device", "the bytes don't have the expected format",
                "the signature doesn't match the signed bytes",
                "a field is missing, or belongs to another app or environment",
            ])
    }

    @Test func `prices are written as in the country of the storefront, and as in the USA for an unknown country`() {
        let locales = [
            "USA": "en_US", "FRA": "fr_FR", "DEU": "de_DE", "GBR": "en_GB", "AUT": "de_AT", "ITA": "it_IT",
            "NLD": "nl_NL", "ESP": "es_ES", "CAN": "en_CA", "SWE": "sv_SE", "CHE": "de_CH", "AUS": "en_AU",
            "JPN": "ja_JP", "CHN": "zh_CN", "KOR": "ko_KR", "IND": "en_IN", "MEX": "es_MX", "POL": "pl_PL",
            "TUR": "tr_TR", "BRA": "pt_BR", "XXX": "en_US", "": "en_US",
        ]
        for (code, locale) in locales {
            #expect(StoreKit.Storefront.locale(ofCountry: code) == Locale(identifier: locale), "\(code)")
        }
    }

    @Test func `a product leaves out offers that it can't read, and needs an ID, a type, a price and a currency`()
        throws
    {
        func offer(_ type: Int64, _ discount: String, count: Int64) -> JSONValue {
            .object([
                "type": .integer(type), "discount": .string(discount), "period": .string("P1M"), "price": .integer(990),
                "count": .integer(count), "id": .string("\(discount) \(count)"),
            ])
        }
        let json: JSONObject = [
            "id": .string("plan"), "type": .string("Auto-Renewable Subscription"), "price": .integer(1990),
            "currency": .string("USD"), "group": .string("7"), "period": .string("P1M"),
            "offers": .array([
                // Offer codes, and payments that StoreKit doesn't know, are left out.
                offer(3, "PAY_UP_FRONT", count: 1), offer(4, "GIFT", count: 1), offer(1, "FREE_TRIAL", count: 5),
                offer(2, "PAY_UP_FRONT", count: 3), offer(4, "PAY_AS_YOU_GO", count: 0),
                offer(4, "PAY_AS_YOU_GO", count: 6),
            ]),
        ]
        let product = try #require(Product(json))
        #expect(product.displayName == "Plan" && product.price == Decimal(string: "1.99") && !product.isFamilyShareable)
        let plan = try #require(product.subscription)
        #expect(plan.groupLevel == 1 && plan.subscriptionGroupID == "7")
        #expect(plan.introductoryOffer?.id == "FREE_TRIAL 5" && plan.introductoryOffer?.periodCount == 1)
        #expect(plan.promotionalOffers.map(\.id) == ["PAY_UP_FRONT 3"])
        #expect(plan.promotionalOffers.map(\.periodCount) == [1])
        #expect(plan.winBackOffers.map(\.periodCount) == [1, 6])
        for name in ["id", "type", "price", "currency"] {
            var incomplete = json
            incomplete[name] = nil
            #expect(Product(incomplete) == nil, "\(name)")
        }
        var other = json
        other["type"] = .string("Consumable")
        #expect(Product(other)?.subscription == nil)
    }
}
