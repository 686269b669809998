/// The errors of the App Store Server API, with their codes and messages.
package enum ServerAPIError: Int, Error, Sendable, CaseIterable {
    case generalBadRequest = 4_000_000
    case invalidAppIdentifier = 4_000_002
    case invalidRequestRevision = 4_000_005
    case invalidTransactionID = 4_000_006
    case invalidOriginalTransactionID = 4_000_008
    case invalidExtendByDays = 4_000_009
    case invalidExtendReasonCode = 4_000_010
    case invalidRequestIdentifier = 4_000_011
    case startDateTooFarInPast = 4_000_012
    case startDateAfterEndDate = 4_000_013
    case invalidPaginationToken = 4_000_014
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case paginationTokenExpired = 4_000_017
    case invalidNotificationType = 4_000_018
    case multipleFiltersSupplied = 4_000_019
    case invalidTestNotificationToken = 4_000_020
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidProductID = 4_000_023
    case invalidSubscriptionGroup = 4_000_024
    case invalidExcludeRevoked = 4_000_025
    case invalidInAppOwnershipType = 4_000_026
    case emptyStorefrontList = 4_000_027
    case invalidStorefront = 4_000_028
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    case invalidAccountTenure = 4_000_032
    case invalidAppAccountToken = 4_000_033
    case invalidConsumptionStatus = 4_000_034
    case invalidCustomerConsented = 4_000_035
    case invalidDeliveryStatus = 4_000_036
    case invalidLifetimeDollarsPurchased = 4_000_037
    case invalidLifetimeDollarsRefunded = 4_000_038
    case invalidPlatform = 4_000_039
    case invalidPlayTime = 4_000_040
    case invalidSampleContentProvided = 4_000_041
    case invalidUserStatus = 4_000_042
    case transactionIsNotConsumable = 4_000_043
    case transactionTypeNotSupported = 4_000_047
    case appTransactionIDNotSupported = 4_000_048
    case appAccountTokenIsNoUUID = 4_000_183
    case familyTransactionNotSupported = 4_000_185
    case notAnOriginalTransactionID = 4_000_187
    case subscriptionExtensionIneligible = 4_030_004
    case subscriptionMaxExtension = 4_030_005
    case familySharedSubscriptionExtensionIneligible = 4_030_007
    case accountNotFound = 4_040_001
    case accountNotFoundRetryable = 4_040_002
    case appNotFound = 4_040_003
    case appNotFoundRetryable = 4_040_004
    case originalTransactionIDNotFound = 4_040_005
    case originalTransactionIDNotFoundRetryable = 4_040_006
    case notificationURLNotFound = 4_040_007
    case testNotificationNotFound = 4_040_008
    case statusRequestNotFound = 4_040_009
    case transactionIDNotFound = 4_040_010
    case appTransactionDoesNotExist = 4_040_019
    case rateLimitExceeded = 4_290_000
    case generalInternal = 5_000_000
    case generalInternalRetryable = 5_000_001

    /// The HTTP status: the first three digits of the code.
    package var status: Int { rawValue / 10_000 }

    /// The message that Apple documents for the error. For errors without a known message, a message in Apple's style.
    var message: String { Self.messages[self] ?? nameAsSentence }

    /// The allowed values of `errorMessage` in Apple's documentation of each error, or the message in Apple's server
    /// library. Some of these messages end without a period there.
    private static let messages: [ServerAPIError: String] = [
        .generalBadRequest: "Bad request.",
        .invalidAppIdentifier: "Invalid request app identifier.",
        .invalidExtendByDays: "Invalid extend by days value.",
        .startDateTooFarInPast: "Invalid request. The start date is earlier than the allowed start date.",
        .startDateAfterEndDate: "Invalid request. The end date precedes the start date or the dates are the same.",
        .invalidPaginationToken: "Invalid request. The pagination token is invalid.",
        .invalidStartDate: "Invalid request. The start date is not a timestamp value represented in milliseconds.",
        .invalidEndDate: "Invalid request. The end date is not a timestamp value represented in milliseconds.",
        .paginationTokenExpired: "Invalid request. The pagination token is expired.",
        .invalidNotificationType: "Invalid request. The notification type or subtype is invalid.",
        .multipleFiltersSupplied:
            "Invalid request. Supply either a transaction id or a notification type, but not both.",
        .invalidTestNotificationToken: "Invalid request. The test notification token is invalid.",
        .invalidSort: "Invalid request. The sort parameter is invalid.",
        .invalidProductType: "Invalid request. The product type parameter is invalid.",
        .invalidProductID: "Invalid request. The product id parameter is invalid.",
        .invalidSubscriptionGroup: "Invalid request. The subscription group identifier parameter is invalid.",
        .invalidInAppOwnershipType: "Invalid request. The in-app ownership type parameter is invalid.",
        .emptyStorefrontList: "Invalid request. If provided, the list of storefront country codes must not be empty.",
        .invalidStorefront: "Invalid request. A storefront country code was invalid.",
        .invalidRevoked: "Invalid request. The revoked parameter is invalid.",
        .invalidStatus: "Invalid request. The status parameter is invalid.",
        .invalidAccountTenure: "Invalid request. The account tenure field is invalid.",
        .invalidAppAccountToken:
            "Invalid request. The app account token field must contain a valid UUID or an empty string.",
        .invalidConsumptionStatus: "Invalid request. The consumption status field is invalid.",
        .invalidCustomerConsented:
            "Invalid request. The customer consented field is required and must indicate the customer consented",
        .invalidDeliveryStatus: "Invalid request. The delivery status field is invalid",
        .invalidLifetimeDollarsPurchased: "Invalid request. The lifetime dollars purchased field is invalid",
        .invalidLifetimeDollarsRefunded: "Invalid request. The lifetime dollars refunded field is invalid",
        .invalidPlatform: "Invalid request. The platform field is invalid",
        .invalidPlayTime: "Invalid request. The playtime field is invalid",
        .invalidSampleContentProvided: "Invalid request. The sample content provided field is invalid",
        .invalidUserStatus: "Invalid request. The user status field is invalid",
        .transactionIsNotConsumable:
            "Invalid request. The transaction id parameter must represent a consumable in-app purchase",
        .transactionTypeNotSupported:
            "Invalid request. The transaction id doesn't represent a supported in-app purchase type",
        .appTransactionIDNotSupported: "Invalid request. App transactions aren't supported by this endpoint.",
        .appAccountTokenIsNoUUID: "Invalid request. The app account token field must be a valid UUID.",
        .familyTransactionNotSupported:
            "Invalid request. Family Sharing transactions aren't supported by this endpoint.",
        .notAnOriginalTransactionID:
            "Invalid request. The transaction ID provided is not an original transaction ID.",
        .subscriptionExtensionIneligible: "Forbidden - subscription state ineligible for extension.",
        .subscriptionMaxExtension: "Forbidden - subscription has reached maximum extension count.",
        .familySharedSubscriptionExtensionIneligible:
            "Subscriptions that users obtain through Family Sharing can't get a renewal date extension directly.",
        .accountNotFoundRetryable: "Account not found. Please try again.",
        .appNotFoundRetryable: "App not found. Please try again.",
        .originalTransactionIDNotFoundRetryable: "Original transaction id not found. Please try again.",
        .notificationURLNotFound:
            "No App Store Server Notification URL found for provided app. Check that a URL is configured in App Store "
            + "Connect for this environment.",
        .testNotificationNotFound:
            "Either the test notification token is expired or the notification and status are not yet available.",
        .statusRequestNotFound:
            "The server didn't find a subscription-renewal-date extension request for this requestIdentifier and "
            + "productId combination.",
        .appTransactionDoesNotExist: "No AppTransaction exists for the customer.",
        .generalInternal: "An unknown error occurred.",
        .generalInternalRetryable: "An unknown error occurred. Please try again.",
    ]

    /// The name of the case as a sentence: `Transaction id not found.`
    private var nameAsSentence: String {
        let letters = Array("\(self)")
        var words = ""
        for (index, letter) in letters.enumerated() {
            // A word begins at an uppercase letter with a lowercase letter before or after it: `Retryable`, and in
            // `URLNotFound` the N, but not the R.
            let isStart =
                index > 0 && letter.isUppercase
                && (letters[index - 1].isLowercase || (index + 1 < letters.count && letters[index + 1].isLowercase))
            words += (isStart ? " " : "") + letter.lowercased()
        }
        return words.prefix(1).uppercased() + words.dropFirst() + "."
    }
}
