import TenureAppStore
import Testing

/// Apple's numbers and words for each case. The cases are written here in the order of Apple's documentation.
@Suite struct PayloadValueTests {
    @Test func `the numbers in JWS payloads have Apple's meaning`() {
        #expect([AutoRenewStatus.off, .on].map(\.rawValue) == [0, 1])
        #expect([PriceIncreaseStatus.notYetAnswered, .accepted].map(\.rawValue) == [0, 1])
        #expect([RevocationReason.other, .issueInTheApp].map(\.rawValue) == [0, 1])
        #expect([OfferType.introductory, .promotional, .offerCode, .winBack].map(\.rawValue) == [1, 2, 3, 4])
        let intents: [ExpirationIntent] = [
            .customerCancelled, .billingError, .priceIncreaseNotAccepted, .productUnavailable, .other,
        ]
        #expect(intents.map(\.rawValue) == [1, 2, 3, 4, 5])
        let statuses: [SubscriptionStatus] = [.active, .expired, .billingRetry, .gracePeriod, .revoked]
        #expect(statuses.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(OfferType.allCases.count == 4 && ExpirationIntent.allCases.count == 5)
        #expect(SubscriptionStatus.allCases.count == 5)
    }

    @Test func `the words in transactions have Apple's spelling`() {
        #expect(
            [ProductType.autoRenewable, .nonConsumable, .consumable, .nonRenewing].map(\.rawValue) == [
                "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription",
            ])
        #expect([OwnershipType.familyShared, .purchased].map(\.rawValue) == ["FAMILY_SHARED", "PURCHASED"])
        #expect(
            [RevocationType.refundFull, .refundProrated, .familyRevoke].map(\.rawValue) == [
                "REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE",
            ])
        #expect(
            [OfferDiscountType.freeTrial, .payAsYouGo, .payUpFront, .oneTime].map(\.rawValue) == [
                "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME",
            ])
        #expect([TransactionReason.purchase, .renewal].map(\.rawValue) == ["PURCHASE", "RENEWAL"])
        #expect([BillingPlanType.billedUpfront, .monthly].map(\.rawValue) == ["BILLED_UPFRONT", "MONTHLY"])
        #expect(
            [AdvancedCommerceRefundType.full, .prorated, .custom].map(\.rawValue) == ["FULL", "PRORATED", "CUSTOM"])
        #expect(
            [AdvancedCommercePriceIncreaseStatus.scheduled, .pending, .accepted].map(\.rawValue) == [
                "SCHEDULED", "PENDING", "ACCEPTED",
            ])
    }

    @Test func `the types and subtypes of notifications have Apple's spelling`() {
        let types: [NotificationType] = [
            .consumptionRequest, .didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew, .didRenew, .expired,
            .externalPurchaseToken, .gracePeriodExpired, .metadataUpdate, .migration, .offerRedeemed, .oneTimeCharge,
            .priceChange, .priceIncrease, .refund, .refundDeclined, .refundReversed, .renewalExtended,
            .renewalExtension, .rescindConsent, .revoke, .subscribed, .test,
        ]
        #expect(
            types.map(\.rawValue) == [
                "CONSUMPTION_REQUEST", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_FAIL_TO_RENEW",
                "DID_RENEW", "EXPIRED", "EXTERNAL_PURCHASE_TOKEN", "GRACE_PERIOD_EXPIRED", "METADATA_UPDATE",
                "MIGRATION", "OFFER_REDEEMED", "ONE_TIME_CHARGE", "PRICE_CHANGE", "PRICE_INCREASE", "REFUND",
                "REFUND_DECLINED", "REFUND_REVERSED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "RESCIND_CONSENT",
                "REVOKE", "SUBSCRIBED", "TEST",
            ])
        #expect(Set(types) == Set(NotificationType.allCases))
        let subtypes: [NotificationSubtype] = [
            .accepted, .activeTokenReminder, .autoRenewDisabled, .autoRenewEnabled, .billingRecovery, .billingRetry,
            .created, .downgrade, .failure, .gracePeriod, .initialBuy, .pending, .priceIncrease, .productNotForSale,
            .resubscribe, .summary, .unreported, .upgrade, .voluntary,
        ]
        #expect(
            subtypes.map(\.rawValue) == [
                "ACCEPTED", "ACTIVE_TOKEN_REMINDER", "AUTO_RENEW_DISABLED", "AUTO_RENEW_ENABLED", "BILLING_RECOVERY",
                "BILLING_RETRY", "CREATED", "DOWNGRADE", "FAILURE", "GRACE_PERIOD", "INITIAL_BUY", "PENDING",
                "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", "RESUBSCRIBE", "SUMMARY", "UNREPORTED", "UPGRADE",
                "VOLUNTARY",
            ])
        #expect(Set(subtypes) == Set(NotificationSubtype.allCases))
    }
}
