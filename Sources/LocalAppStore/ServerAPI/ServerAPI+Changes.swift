import Foundation
import Hummingbird
import TenureAppStore
import TenureJSON
import TenureMint

/// Requests with which a developer's server changes the state of the App Store. Each change is an `AppStoreOperation`,
/// so that the journal, the file of all operations, saves it. A *mass extension* extends the renewal dates of all
/// subscribers of a product.
extension ServerAPI {
    /// Adds the endpoints of these requests.
    func addChanges(to apps: RouterGroup<BasicRequestContext>) {
        apps.put("v2/transactions/consumption/{id}") { await respond($0, $1, .perSecond50) { try await consume($0) } }
        apps.put("v1/transactions/consumption/{id}") {
            await respond($0, $1, .perSecond50) { try await consumeVersion1($0) }
        }
        apps.put("v1/transactions/{id}/appAccountToken") {
            await respond($0, $1, .perSecond20) { try await setAppAccountToken($0) }
        }
        apps.post("v1/transactions/{id}/finish") { await respond($0, $1, .perSecond50) { try await finish($0) } }
        apps.put("v1/subscriptions/extend/{id}") { await respond($0, $1, .perSecond20) { try await extend($0) } }
        apps.post("v1/subscriptions/extend/mass") { await respond($0, $1, .perSecond1) { try await extendAll($0) } }
        apps.get("v1/subscriptions/extend/mass/{product}/{id}") { request, context in
            let product = context.parameters.get("product") ?? ""
            return await answer(request, context, .perSecond1) { try massExtension($0, of: product) }
        }
    }

    /// Performs an operation with parameters that were checked. If it fails, throws one of Apple's internal errors.
    private func perform(_ operation: AppStoreOperation) async throws(ServerAPIError) {
        do {
            try await store.perform(operation)
        } catch is JournalError {
            throw .generalInternalRetryable
        } catch {
            throw .generalInternal
        }
    }

    // MARK: Consumption

    private static let deliveryStatuses = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]

    /// Checks and stores the consumption information in the request: how the developer delivered a purchase for which
    /// the customer wants a refund.
    private func consume(_ request: ServerAPIRequest) async throws(ServerAPIError) -> Response {
        let transaction = try request.transaction(request.id)
        let body = try Self.consumptionBody(of: request)
        guard case .string(let status)? = body["deliveryStatus"], Self.deliveryStatuses.contains(status) else {
            throw .invalidDeliveryStatus
        }
        let preference = body.text("refundPreference")
        guard body["consumptionPercentage"] == nil || body.integer("consumptionPercentage", in: 0...100_000) != nil,
            body["refundPreference"] == nil || ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"].contains(preference ?? "")
        else { throw .generalBadRequest }
        return try await answerConsumption(of: transaction, in: request, status, preference: preference)
    }

    /// Returns the body of a request with consumption information. Throws if one of the fields that both versions
    /// require is invalid.
    private static func consumptionBody(of request: ServerAPIRequest) throws(ServerAPIError) -> JSONObject {
        let body = try request.bodyObject()
        guard body["customerConsented"] == .boolean(true) else { throw .invalidCustomerConsented }
        guard case .boolean? = body["sampleContentProvided"] else { throw .invalidSampleContentProvided }
        return body
    }

    /// The fields of consumption information in version 1 of the request, with the allowed range, and the error for
    /// other values.
    private static let version1Fields: [(name: String, range: ClosedRange<Int>, error: ServerAPIError)] = [
        ("accountTenure", 0...7, .invalidAccountTenure), ("consumptionStatus", 0...3, .invalidConsumptionStatus),
        ("deliveryStatus", 0...5, .invalidDeliveryStatus),
        ("lifetimeDollarsPurchased", 0...7, .invalidLifetimeDollarsPurchased),
        ("lifetimeDollarsRefunded", 0...7, .invalidLifetimeDollarsRefunded), ("platform", 0...2, .invalidPlatform),
        ("playTime", 0...7, .invalidPlayTime), ("userStatus", 0...4, .invalidUserStatus),
    ]

    /// Checks and stores the consumption information as `consume` does, with the fields of version 1.
    private func consumeVersion1(_ request: ServerAPIRequest) async throws(ServerAPIError) -> Response {
        let transaction = try request.transaction(request.id)
        guard request.state.products[transaction.product].type == .consumable else { throw .transactionIsNotConsumable }
        let body = try Self.consumptionBody(of: request)
        if let token = body["appAccountToken"] {
            guard case .string(let text) = token, text.isEmpty || UUID(uuidString: text) != nil else {
                throw .invalidAppAccountToken
            }
        }
        for field in Self.version1Fields {
            guard body.integer(field.name, in: field.range) != nil else { throw field.error }
        }
        guard case .number(let status)? = body["deliveryStatus"] else { throw .invalidDeliveryStatus }
        return try await answerConsumption(of: transaction, in: request, status)
    }

    /// Stores consumption information that was checked.
    private func answerConsumption(
        of transaction: AppStoreTransaction, in request: ServerAPIRequest, _ status: String, preference: String? = nil
    ) async throws(ServerAPIError) -> Response {
        var parameters: [AppStoreOperation.Parameter: String] = [
            .transaction: request.state.id(of: transaction), .deliveryStatus: status,
        ]
        parameters[.refundPreference] = preference
        try await perform(AppStoreOperation(.answerConsumption, parameters))
        return Response(status: .accepted)
    }

    // MARK: Transactions

    /// Answers Apple's “Set App Account Token”.
    private func setAppAccountToken(_ request: ServerAPIRequest) async throws(ServerAPIError) -> Response {
        let transaction = try request.transaction(request.id)
        guard transaction.originalTransaction == transaction.index else { throw .notAnOriginalTransactionID }
        guard !transaction.isFamilyShared else { throw .familyTransactionNotSupported }
        guard let text = try request.bodyObject().text("appAccountToken"), UUID(uuidString: text) != nil else {
            throw .appAccountTokenIsNoUUID
        }
        try await perform(
            AppStoreOperation(
                .setAppAccountToken, [.transaction: request.state.id(of: transaction), .appAccountToken: text]))
        return Response(status: .ok)
    }

    private func finish(_ request: ServerAPIRequest) async throws(ServerAPIError) -> Response {
        let transaction = try request.transaction(request.id)
        try await perform(AppStoreOperation(.finish, [.transaction: request.state.id(of: transaction)]))
        return Response(status: .ok)
    }

    // MARK: Renewal dates

    /// A renewal date can be extended at most twice in 365 days (`length`, in seconds).
    private static let extensionLimit = (count: 2, length: TimeInterval(365 * 86_400))

    /// Answers Apple's “Extend a Subscription Renewal Date”.
    private func extend(_ request: ServerAPIRequest) async throws(ServerAPIError) -> Response {
        let transaction = try request.original(request.id)
        let body = try request.bodyObject()
        let days = try Self.days(in: body)
        let identifier = try Self.requestIdentifier(in: body)
        guard let subscription = request.state.subscription(of: transaction) else {
            throw .originalTransactionIDNotFound
        }
        guard subscription.sharedFrom == nil else { throw .familySharedSubscriptionExtensionIneligible }
        guard subscription.state == .active else { throw .subscriptionExtensionIneligible }
        let since = request.state.now.addingTimeInterval(-Self.extensionLimit.length)
        guard subscription.extensions.count(where: { $0 > since }) < Self.extensionLimit.count else {
            throw .subscriptionMaxExtension
        }
        try await perform(AppStoreOperation(.extend, [.transaction: request.id, .days: String(days)]))
        let state = await store.state
        let current = state.transactions[state.subscriptions[subscription.index].currentTransaction]
        var answer: JSONObject = [
            "originalTransactionId": .string(request.id),
            "webOrderLineItemId": .string(state.ids.webOrderLineItem(current.index)), "success": .boolean(true),
        ]
        answer["effectiveDate"] = current.expiresDate.map(JSONValue.instant)
        answer["requestIdentifier"] = .string(identifier)
        return .json(answer)
    }

    /// Answers Apple's “Extend Subscription Renewal Dates for All Active Subscribers”.
    private func extendAll(_ request: ServerAPIRequest) async throws(ServerAPIError) -> Response {
        let body = try request.bodyObject()
        let days = try Self.days(in: body)
        let identifier = try Self.requestIdentifier(in: body)
        guard case .string(let id)? = body["productId"], let product = try? request.state.productIndex(id),
            request.state.app(ofProduct: product) == request.app, request.state.products[product].type == .autoRenewable
        else { throw .invalidProductID }
        guard request.massExtension(identifier) == nil else { throw .invalidRequestIdentifier }
        let codes = body.texts("storefrontCountryCodes")
        if let list = body["storefrontCountryCodes"] {
            guard case .array(let elements) = list, !elements.isEmpty else { throw .emptyStorefrontList }
            guard codes.count == elements.count, codes.allSatisfy({ Storefront(code: $0) != nil }) else {
                throw .invalidStorefront
            }
        }
        var parameters: [AppStoreOperation.Parameter: String] = [
            .product: id, .days: String(days), .request: identifier,
        ]
        if !codes.isEmpty { parameters[.storefronts] = codes.joined(separator: ",") }
        try await perform(AppStoreOperation(.extendAll, parameters))
        return .json(["requestIdentifier": .string(identifier)])
    }

    /// Returns the status of a request to extend the renewal dates of all subscribers of a product.
    private func massExtension(_ request: ServerAPIRequest, of product: String) throws(ServerAPIError) -> JSONObject {
        guard let summary = request.massExtension(request.id), request.state.products[summary.product].id == product
        else { throw .statusRequestNotFound }
        return [
            "requestIdentifier": .string(summary.requestIdentifier), "complete": .boolean(true),
            "completeDate": .instant(summary.completedAt), "succeededCount": .integer(Int64(summary.succeeded)),
            "failedCount": .integer(Int64(summary.failed)),
        ]
    }

    /// Returns the number of days in a request to extend renewal dates, and checks the reason.
    private static func days(in body: JSONObject) throws(ServerAPIError) -> Int {
        guard let days = body.integer("extendByDays", in: 1...90) else { throw .invalidExtendByDays }
        guard body.integer("extendReasonCode", in: 0...3) != nil else { throw .invalidExtendReasonCode }
        return days
    }

    private static func requestIdentifier(in body: JSONObject) throws(ServerAPIError) -> String {
        guard case .string(let text)? = body["requestIdentifier"], (1...128).contains(text.utf8.count) else {
            throw .invalidRequestIdentifier
        }
        return text
    }
}

extension ServerAPIRequest {
    /// Returns the result of the app's mass extension with this identifier; nil if the app has no such extension. Two
    /// apps may use the same identifier.
    fileprivate func massExtension(_ identifier: String) -> ExtensionSummary? {
        state.massExtensions.first {
            $0.requestIdentifier == identifier && state.app(ofProduct: $0.product) == app
        }
    }
}
