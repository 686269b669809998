import CalculatorSeller
import Foundation
import HTTPTypes
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

/// Every error code that Apple documents for the requests that this store supports.
private let documented: Set<Int> = Set(
    [4_000_000, 4_000_002, 4_000_005, 4_000_006, 4_000_043, 4_000_047, 4_000_048, 4_000_183, 4_000_185, 4_000_187]
        + Array(4_000_008...4_000_028) + Array(4_000_030...4_000_042)
        + [4_030_004, 4_030_005, 4_030_007, 4_040_019, 4_290_000, 5_000_000, 5_000_001] + Array(4_040_001...4_040_010))

/// Errors that occur only if a test injects them as a fault.
private let onlyByFault: Set<ServerAPIError> = [
    .invalidAppIdentifier, .transactionTypeNotSupported, .accountNotFound, .accountNotFoundRetryable, .appNotFound,
    .appNotFoundRetryable, .originalTransactionIDNotFoundRetryable, .appTransactionDoesNotExist, .generalInternal,
    .generalInternalRetryable,
]

@Test func `the local App Store has exactly the errors that Apple documents for the App Store Server API`() {
    #expect(Set(ServerAPIError.allCases.map(\.rawValue)) == documented)
}

@Test func `a fault can cause every error of the App Store Server API, with its status and message`() async throws {
    try await withStoreClient(try stateForWrongRequests()) { client async throws in
        let path = "/inApps/v1/transactions/\(await client.store.state.id(of: client.store.state.transactions[0]))"
        for error in ServerAPIError.allCases {
            await client.fault.inject(error, requests: 1)
            let answer = try await client.get(path)
            #expect(answer.body.integer("errorCode") == error.rawValue)
            #expect(answer.status == error.rawValue / 10_000)
            #expect(answer.body.text("errorMessage") == error.message)
            #expect(try await client.get(path).status == 200)
        }
    }
}

/// The messages are those of Apple's documentation of each error.
@Test func `errors of the App Store Server API have Apple's messages`() {
    let messages: [ServerAPIError: String] = [
        .invalidRequestRevision: "Invalid request revision.", .invalidTransactionID: "Invalid transaction id.",
        .invalidOriginalTransactionID: "Invalid original transaction id.",
        .invalidExtendReasonCode: "Invalid extend reason code.", .accountNotFound: "Account not found.",
        .originalTransactionIDNotFound: "Original transaction id not found.",
        .transactionIDNotFound: "Transaction id not found.", .rateLimitExceeded: "Rate limit exceeded.",
        .accountNotFoundRetryable: "Account not found. Please try again.",
        .generalInternal: "An unknown error occurred.",
        .notificationURLNotFound:
            "No App Store Server Notification URL found for provided app. Check that a URL is configured in App Store "
            + "Connect for this environment.",
        .invalidSort: "Invalid request. The sort parameter is invalid.",
        .generalBadRequest: "Bad request.", .invalidAppIdentifier: "Invalid request app identifier.",
        .invalidExtendByDays: "Invalid extend by days value.",
        .invalidRequestIdentifier: "Invalid request identifier.",
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
        .invalidProductType: "Invalid request. The product type parameter is invalid.",
        .invalidProductID: "Invalid request. The product id parameter is invalid.",
        .invalidSubscriptionGroup: "Invalid request. The subscription group identifier parameter is invalid.",
        .invalidExcludeRevoked: "Invalid exclude revoked.",
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
        .subscriptionExtensionIneligible: "Forbidden - subscription state ineligible for extension.",
        .subscriptionMaxExtension: "Forbidden - subscription has reached maximum extension count.",
        .familySharedSubscriptionExtensionIneligible:
            "Subscriptions that users obtain through Family Sharing can't get a renewal date extension directly.",
        .appNotFound: "App not found.", .appNotFoundRetryable: "App not found. Please try again.",
        .originalTransactionIDNotFoundRetryable: "Original transaction id not found. Please try again.",
        .testNotificationNotFound:
            "Either the test notification token is expired or the notification and status are not yet available.",
        .statusRequestNotFound:
            "The server didn't find a subscription-renewal-date extension request for this requestIdentifier and "
            + "productId combination.",
        .appTransactionDoesNotExist: "No AppTransaction exists for the customer.",
        .appAccountTokenIsNoUUID: "Invalid request. The app account token field must be a valid UUID.",
        .familyTransactionNotSupported:
            "Invalid request. Family Sharing transactions aren't supported by this endpoint.",
        .notAnOriginalTransactionID:
            "Invalid request. The transaction ID provided is not an original transaction ID.",
        .generalInternalRetryable: "An unknown error occurred. Please try again.",
    ]
    #expect(Set(messages.keys) == Set(ServerAPIError.allCases))
    for (error, message) in messages { #expect(error.message == message) }
}

/// An invalid request, and the error that it causes.
private struct InvalidRequest {
    let error: ServerAPIError
    let method: HTTPRequest.Method
    let path: String
    var body: JSONObject?
}

/// Ada subscribes, buys coins, and shares with Ben. Cara got a refund. Dora's renewal date was extended twice.
private func stateForWrongRequests() throws -> AppStoreState {
    var state = Shop.state(at: "2026-01-10T12:00:00Z")
    for (name, family) in [("Ada", "Lovelace"), ("Ben", "Lovelace"), ("Cara", nil), ("Dora", nil)] {
        try state.addCustomer(name, family: family)
        try state.acquire(name)
    }
    for name in ["Ada", "Cara", "Dora"] { try state.buy(Shop.monthly, name) }
    try state.buy(Shop.coins, "Ada")
    try state.share("Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-09-01"))
    try state.refund("Cara", Shop.monthly)
    for _ in 0..<2 { _ = state.extend(try state.last("Dora", Shop.monthly), by: 1) }
    return state
}

extension AppStoreState {
    /// The customer's last transaction of a product.
    fileprivate func last(_ customer: String, _ product: String) throws -> AppStoreTransaction {
        try #require(
            transactions.last { accounts[$0.account].name == customer && products[$0.product].id == product })
    }
}

private let unknown = "410999999999999"

private func wrongQuestions(_ state: AppStoreState) throws -> [InvalidRequest] {
    let id = state.id(of: state.transactions[0])
    let history = "v2/history/\(id)"
    func wrong(_ error: ServerAPIError, _ path: String) -> InvalidRequest {
        InvalidRequest(error: error, method: .get, path: path)
    }
    return [
        wrong(.invalidTransactionID, "v1/transactions/abc"),
        wrong(.transactionIDNotFound, "v1/transactions/\(unknown)"),
        wrong(.appTransactionIDNotSupported, "v1/transactions/\(state.id(of: state.acquisitions[0]))"),
        wrong(.transactionIDNotFound, "v1/transactions/appTransactions/\(unknown)"),
        wrong(.transactionIDNotFound, "v1/transactions/appTransactions/\(state.ids.appTransaction(99))"),
        wrong(.invalidStatus, "v1/subscriptions/\(id)?status=6"),
        wrong(.transactionIDNotFound, "v1/subscriptions/\(unknown)"),
        wrong(.invalidRequestRevision, "\(history)?revision=x"),
        wrong(.invalidRequestRevision, "\(history)?revision=1700000000000_999999"),
        wrong(.invalidRequestRevision, "\(history)?revision=1700000000000"),
        wrong(.invalidRequestRevision, "\(history)?revision=1700000000000_1_1"),
        wrong(.invalidRequestRevision, "\(history)?revision=5_0"),
        wrong(.invalidRequestRevision, "\(history)?revision=1700000000000_-1"),
        // The time of this revision is in the future.
        wrong(.invalidRequestRevision, "\(history)?revision=9999999999999_1"),
        wrong(.invalidTransactionID, "v1/transactions/\(String(repeating: "4", count: 21))"),
        wrong(.transactionIDNotFound, "v1/transactions/\(String(repeating: "4", count: 20))"),
        wrong(.invalidTransactionID, "v2/refund/lookup/4x"),
        wrong(.invalidSort, "\(history)?sort=UP"),
        wrong(.invalidRequestRevision, "v2/refund/lookup/\(id)?revision=x"),
        wrong(.startDateAfterEndDate, "\(history)?startDate=2&endDate=1"),
        wrong(.startDateAfterEndDate, "\(history)?startDate=2&endDate=2"),
        wrong(.invalidStartDate, "\(history)?startDate=x"), wrong(.invalidEndDate, "\(history)?endDate=x"),
        wrong(.invalidStartDate, "\(history)?startDate=-1"),
        wrong(.invalidEndDate, "\(history)?endDate=8640000000000001"),
        wrong(.invalidProductType, "\(history)?productType=GOLD"), wrong(.invalidProductID, "\(history)?productId="),
        wrong(.invalidRevoked, "\(history)?revoked=maybe"),
        wrong(.invalidExcludeRevoked, "v1/history/\(id)?excludeRevoked=maybe"),
        wrong(.invalidInAppOwnershipType, "\(history)?inAppOwnershipType=LENT"),
        wrong(.invalidSubscriptionGroup, "\(history)?subscriptionGroupIdentifier="),
        wrong(.invalidTestNotificationToken, "v1/notifications/test/x"),
        wrong(.invalidTestNotificationToken, "v1/notifications/test/x_1"),
        wrong(.invalidTestNotificationToken, "v1/notifications/test/0e3a2a3c-0000-4000-8000-000000000001_x"),
        wrong(.testNotificationNotFound, "v1/notifications/test/0e3a2a3c-0000-4000-8000-000000000001_1"),
        wrong(.statusRequestNotFound, "v1/subscriptions/extend/mass/\(Shop.monthly)/none"),
        InvalidRequest(error: .notificationURLNotFound, method: .post, path: "v1/notifications/test"),
    ]
}

private func wrongNotificationRequests(_ state: AppStoreState) -> [InvalidRequest] {
    func wrong(_ error: ServerAPIError, token: String = "", _ change: (inout JSONObject) -> Void = { _ in })
        -> InvalidRequest
    {
        var body: JSONObject = [
            "startDate": .instant(state.now.addingTimeInterval(-86_400)), "endDate": .instant(state.now),
        ]
        change(&body)
        return InvalidRequest(
            error: error, method: .post, path: "v1/notifications/history?paginationToken=\(token)", body: body)
    }
    return [
        wrong(.startDateTooFarInPast) { $0["startDate"] = .number("1000") },
        wrong(.invalidStartDate) { $0["startDate"] = nil },
        wrong(.invalidEndDate) { $0["endDate"] = .string("x") },
        wrong(.startDateAfterEndDate) { $0["endDate"] = .instant(state.now.addingTimeInterval(-90_000)) },
        wrong(.startDateAfterEndDate) { $0["startDate"] = .instant(state.now) },
        wrong(.invalidNotificationType) { $0["notificationType"] = .string("X") },
        wrong(.multipleFiltersSupplied) {
            $0["notificationType"] = .string("SUBSCRIBED")
            $0["transactionId"] = .string(state.id(of: state.transactions[0]))
        },
        wrong(.multipleFiltersSupplied) {
            $0["notificationType"] = .string("SUBSCRIBED")
            $0["notificationSubtype"] = .string("INITIAL_BUY")
            $0["transactionId"] = .string(state.id(of: state.transactions[0]))
        },
        wrong(.invalidNotificationType) {
            $0["notificationType"] = .string("SUBSCRIBED")
            $0["notificationSubtype"] = .string("X")
        },
        wrong(.invalidNotificationType) { $0["notificationType"] = .number("1") },
        wrong(.invalidTransactionID) { $0["transactionId"] = .number("1") },
        wrong(.invalidTransactionID) { $0["transactionId"] = .string("x") },
        wrong(.transactionIDNotFound) { $0["transactionId"] = .string(unknown) },
        wrong(.generalBadRequest) { $0["onlyFailures"] = .string("true") },
        wrong(.invalidPaginationToken, token: "x"),
        wrong(.invalidPaginationToken, token: Base64.urlSafe.text(Array("-1".utf8))),
        wrong(.invalidPaginationToken, token: Base64.urlSafe.text(Array("\(state.notifications.count + 1)".utf8))),
        // The first notification is from January, and it is September now.
        wrong(.paginationTokenExpired, token: Base64.urlSafe.text(Array("0".utf8))),
    ]
}

private func wrongExtensions(_ state: AppStoreState) throws -> [InvalidRequest] {
    let fields: JSONObject = [
        "extendByDays": .number("14"), "extendReasonCode": .number("1"), "requestIdentifier": .string("r1"),
    ]
    func original(_ name: String) throws -> String {
        let account = try state.accountIndex(name)
        let subscription = try #require(state.accounts[account].subscriptions.first)
        return state.id(of: state.transactions[state.subscriptions[subscription].originalTransaction])
    }
    func wrong(_ error: ServerAPIError, _ id: String, _ change: (inout JSONObject) -> Void = { _ in }) -> InvalidRequest
    {
        var body = fields
        change(&body)
        return InvalidRequest(error: error, method: .put, path: "v1/subscriptions/extend/\(id)", body: body)
    }
    func massWrong(_ error: ServerAPIError, _ change: (inout JSONObject) -> Void) -> InvalidRequest {
        var body = fields
        body["productId"] = .string(Shop.monthly)
        change(&body)
        return InvalidRequest(error: error, method: .post, path: "v1/subscriptions/extend/mass", body: body)
    }
    let ada = try original("Ada")
    return [
        wrong(.invalidOriginalTransactionID, "x"), wrong(.originalTransactionIDNotFound, unknown),
        wrong(.originalTransactionIDNotFound, state.id(of: try state.last("Ada", Shop.coins))),
        wrong(.invalidExtendByDays, ada) { $0["extendByDays"] = .number("91") },
        wrong(.invalidExtendReasonCode, ada) { $0["extendReasonCode"] = .number("4") },
        wrong(.invalidRequestIdentifier, ada) { $0["requestIdentifier"] = .string("") },
        wrong(.invalidRequestIdentifier, ada) {
            $0["requestIdentifier"] = .string(String(repeating: "r", count: 129))
        },
        wrong(.generalBadRequest, ada) { $0 = [:] }.withoutBody,
        wrong(.subscriptionExtensionIneligible, try original("Cara")),
        wrong(.subscriptionMaxExtension, try original("Dora")),
        wrong(.familySharedSubscriptionExtensionIneligible, try original("Ben")),
        massWrong(.invalidProductID) { $0["productId"] = .string(Shop.coins) },
        massWrong(.emptyStorefrontList) { $0["storefrontCountryCodes"] = .array([]) },
        massWrong(.emptyStorefrontList) { $0["storefrontCountryCodes"] = .string("USA") },
        massWrong(.invalidStorefront) { $0["storefrontCountryCodes"] = .array([.string("XXX")]) },
        massWrong(.invalidStorefront) { $0["storefrontCountryCodes"] = .array([.string("USA"), .number("1")]) },
        massWrong(.invalidProductID) { $0["productId"] = .string("unknown") },
        massWrong(.invalidProductID) { $0["productId"] = nil },
        massWrong(.invalidExtendByDays) { $0["extendByDays"] = .string("14") },
        massWrong(.invalidRequestIdentifier) { $0["requestIdentifier"] = .number("1") },
    ]
}

private func wrongChanges(_ state: AppStoreState) throws -> [InvalidRequest] {
    let coins = state.id(of: try state.last("Ada", Shop.coins))
    let (first, renewal) = (state.transactions[0], try state.last("Ada", Shop.monthly))
    let shared = try #require(state.transactions.first { $0.isFamilyShared })
    func token(_ error: ServerAPIError, _ id: String, _ text: String) -> InvalidRequest {
        InvalidRequest(
            error: error, method: .put, path: "v1/transactions/\(id)/appAccountToken",
            body: ["appAccountToken": .string(text)])
    }
    let uuid = "0e3a2a3c-0000-4000-8000-000000000001"
    let consumption: JSONObject = [
        "customerConsented": .boolean(true), "sampleContentProvided": .boolean(false),
        "deliveryStatus": .string("DELIVERED"),
    ]
    var formerConsumption = consumption
    for name in [
        "accountTenure", "consumptionStatus", "deliveryStatus", "lifetimeDollarsPurchased", "lifetimeDollarsRefunded",
        "platform", "playTime", "userStatus",
    ] { formerConsumption[name] = .number("0") }
    func corrupted(_ body: JSONObject, _ name: String, _ value: JSONValue, _ version: String, _ error: ServerAPIError)
        -> InvalidRequest
    {
        var body = body
        body[name] = value
        return InvalidRequest(
            error: error, method: .put, path: "\(version)/transactions/consumption/\(coins)", body: body)
    }
    let numbers: [(String, ServerAPIError)] = [
        ("accountTenure", .invalidAccountTenure), ("consumptionStatus", .invalidConsumptionStatus),
        ("deliveryStatus", .invalidDeliveryStatus), ("lifetimeDollarsPurchased", .invalidLifetimeDollarsPurchased),
        ("lifetimeDollarsRefunded", .invalidLifetimeDollarsRefunded), ("platform", .invalidPlatform),
        ("playTime", .invalidPlayTime), ("userStatus", .invalidUserStatus),
    ]
    return [
        token(.appAccountTokenIsNoUUID, state.id(of: first), "me"),
        token(.notAnOriginalTransactionID, state.id(of: renewal), uuid),
        token(.familyTransactionNotSupported, state.id(of: shared), uuid),
        token(.transactionIDNotFound, unknown, uuid), token(.invalidTransactionID, "me", uuid),
        InvalidRequest(
            error: .generalBadRequest, method: .put, path: "v1/transactions/\(state.id(of: first))/appAccountToken"),
        InvalidRequest(
            error: .transactionIDNotFound, method: .post, path: "v1/transactions/\(unknown)/finish"),
        InvalidRequest(
            error: .transactionIDNotFound, method: .put, path: "v2/transactions/consumption/\(unknown)",
            body: consumption),
        corrupted(consumption, "customerConsented", .boolean(false), "v2", .invalidCustomerConsented),
        corrupted(consumption, "sampleContentProvided", .null, "v2", .invalidSampleContentProvided),
        corrupted(consumption, "deliveryStatus", .number("0"), "v2", .invalidDeliveryStatus),
        corrupted(consumption, "deliveryStatus", .string("LOST"), "v2", .invalidDeliveryStatus),
        corrupted(consumption, "consumptionPercentage", .number("100001"), "v2", .generalBadRequest),
        corrupted(consumption, "refundPreference", .string("PERHAPS"), "v2", .generalBadRequest),
        corrupted(formerConsumption, "appAccountToken", .string("me"), "v1", .invalidAppAccountToken),
        InvalidRequest(
            error: .transactionIsNotConsumable, method: .put,
            path: "v1/transactions/consumption/\(state.id(of: first))", body: formerConsumption),
    ] + numbers.map { corrupted(formerConsumption, $0.0, .number("9"), "v1", $0.1) }
}

extension InvalidRequest {
    fileprivate var withoutBody: InvalidRequest { InvalidRequest(error: error, method: method, path: path) }
}

@Test func `an invalid App Store Server API request gets its error code, and changes nothing`() async throws {
    let state = try stateForWrongRequests()
    let wrongs =
        try wrongQuestions(state) + wrongNotificationRequests(state) + wrongExtensions(state) + wrongChanges(state)
    try await withStoreClient(state) { client async throws in
        let before = await client.store.changeCount
        for wrong in wrongs {
            let answer = try await client.send(wrong.method, "/inApps/\(wrong.path)", wrong.body)
            #expect(answer.body.integer("errorCode") == wrong.error.rawValue, "\(wrong.method) \(wrong.path)")
            #expect(answer.status == wrong.error.status, "\(wrong.method) \(wrong.path)")
            #expect(answer.body.text("errorMessage") == wrong.error.message)
        }
        #expect(await client.store.changeCount == before)
    }
    // With rate limits, which have a separate test, these are all errors.
    let reported = Set(wrongs.map(\.error)).union(onlyByFault).union([.rateLimitExceeded])
    #expect(Set(ServerAPIError.allCases).subtracting(reported).isEmpty)
    #expect(onlyByFault.isDisjoint(with: wrongs.map(\.error)))
}
