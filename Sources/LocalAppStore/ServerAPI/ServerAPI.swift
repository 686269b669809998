package import Foundation
import HTTPTypes
package import Hummingbird
import TenureAppStore
import TenureCore
import TenureJSON

/// The App Store Server API of a local App Store, with Apple's paths, responses and errors.
package struct ServerAPI: Sendable {
    let store: LocalAppStore
    let key: ServerAPIKey
    let rateLimit: RateLimit
    /// The error with which the next requests are answered, if a test injects one.
    let fault = Fault()
    /// The real time, for tokens and rate limits. If a token is valid only at the time of the local App Store's clock,
    /// that clock is used instead.
    let now: @Sendable () -> Date

    /// - Parameter rateLimitShare: the share of Apple's hourly limits that is allowed; in the sandbox a tenth of that.
    package init(
        store: LocalAppStore, key: ServerAPIKey, rateLimitShare: Double = 1,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async {
        self.store = store
        self.key = key
        self.now = now
        rateLimit = RateLimit(share: rateLimitShare * (await store.state.environment.isProduction ? 1 : 0.1))
    }

    /// Adds the endpoints to a server.
    package func add(to router: Router<BasicRequestContext>) {
        let apps = router.group("inApps")
        apps.get("v1/transactions/{id}") { await answer($0, $1, .perSecond50, transactionInfo) }
        apps.get("v1/transactions/appTransactions/{id}") { await answer($0, $1, .perSecond50, appTransactionInfo) }
        apps.get("v1/subscriptions/{id}") { await answer($0, $1, .perSecond50, statuses) }
        apps.get("v1/history/{id}") { await answer($0, $1, .perSecond50) { try $0.history(isVersion1: true) } }
        apps.get("v2/history/{id}") { await answer($0, $1, .perSecond50) { try $0.history() } }
        apps.get("v2/refund/lookup/{id}") { await answer($0, $1, .perSecond10) { try $0.refunds() } }
        apps.get("v1/lookup/{id}") { await answer($0, $1, .perSecond10, order) }
        addChanges(to: apps)
        addNotifications(to: apps)
    }

    /// Answers Apple's “Get Transaction Info”.
    private func transactionInfo(_ request: ServerAPIRequest) throws -> JSONObject {
        let id = request.id
        guard request.state.acquisition(id) == nil else { throw ServerAPIError.appTransactionIDNotSupported }
        let transaction = try request.transaction(id)
        return ["signedTransactionInfo": .string(try request.signed(transaction))]
    }

    /// Answers Apple's “Get App Transaction Info”.
    private func appTransactionInfo(_ request: ServerAPIRequest) throws -> JSONObject {
        let account = try request.account(request.id)
        guard let acquisition = request.state.acquisition(of: account, app: request.app) else {
            throw ServerAPIError.appTransactionDoesNotExist
        }
        return [
            "signedAppTransactionInfo": .string(
                try request.signer.appTransaction(acquisition, in: request.state, for: .server))
        ]
    }

    /// Answers Apple's “Get All Subscription Statuses”.
    private func statuses(_ request: ServerAPIRequest) throws -> JSONObject {
        let account = try request.account(request.id)
        let requestedStatuses = try request.queryValues("status").map { text in
            guard let status = Int64(text).flatMap(SubscriptionStatus.init(rawValue:)) else {
                throw ServerAPIError.invalidStatus
            }
            return status
        }
        let subscriptions = request.state.accounts[account].subscriptions.map { request.state.subscriptions[$0] }
            .filter { $0.app == request.app }
        // The groups are in the order of the customer's first subscription in each.
        var groups: [String] = []
        for subscription in subscriptions where !groups.contains(subscription.group) {
            groups.append(subscription.group)
        }
        let data = try groups.compactMap { group -> JSONValue? in
            let requested = subscriptions.filter {
                $0.group == group && (requestedStatuses.isEmpty || requestedStatuses.contains($0.status))
            }
            guard !requested.isEmpty else { return nil }
            return .object([
                "subscriptionGroupIdentifier": .string(request.state.groupID(group, of: request.app)),
                "lastTransactions": .array(try requested.map { .object(try item($0, request)) }),
            ])
        }
        var answer = request.appMembers
        answer["data"] = .array(data)
        return answer
    }

    /// Returns a subscription as a list of statuses contains it.
    private func item(_ subscription: Subscription, _ request: ServerAPIRequest) throws -> JSONObject {
        [
            "originalTransactionId": .string(request.state.ids.transaction(subscription.originalTransaction)),
            "status": .integer(subscription.status.rawValue),
            "signedRenewalInfo": .string(try request.signer.renewalInfo(subscription, in: request.state)),
            "signedTransactionInfo": .string(
                try request.signed(request.state.transactions[subscription.currentTransaction])),
        ]
    }

    /// Answers Apple's “Look Up Order ID”. The status 1 means that the order ID is invalid. The sandbox has no order
    /// IDs.
    private func order(_ request: ServerAPIRequest) throws -> JSONObject {
        guard request.state.environment.isProduction,
            let transaction = request.state.transaction(order: request.id), transaction.app == request.app
        else { return ["status": .integer(1), "signedTransactions": .array([])] }
        return ["status": .integer(0), "signedTransactions": .array([.string(try request.signed(transaction))])]
    }

    /// Answers a request with the JSON that `body` returns for the current state.
    func answer(
        _ request: Request, _ context: BasicRequestContext, _ rate: RequestRate,
        _ body: @Sendable (ServerAPIRequest) throws -> JSONObject
    ) async -> Response { await respond(request, context, rate) { .json(try body($0)) } }

    /// Checks the token, the injected error and the rate limit, and returns the response of `body`. If a check or
    /// `body` throws, returns the response that Apple's API gives for the error.
    func respond(
        _ request: Request, _ context: BasicRequestContext, _ rate: RequestRate,
        _ body: @Sendable (ServerAPIRequest) async throws -> Response
    ) async -> Response {
        do {
            return try await body(try await self.request(request, context, rate))
        } catch let error as ServerAPIError {
            return .refusal(error)
        } catch let error as RateLimited {
            var response = Response.refusal(.rateLimitExceeded)
            // The header contains an instant in milliseconds since 1970, not a length of time.
            response.headers[.retryAfter] = String(Int64(error.until.timeIntervalSince1970 * 1000))
            return response
        } catch is Unauthorized {
            return Response(status: .unauthorized)
        } catch {
            return .refusal(.generalInternal)
        }
    }

    /// Checks the token, the injected error and the rate limit, and reads the request.
    private func request(
        _ request: Request, _ context: BasicRequestContext, _ rate: RequestRate
    ) async throws -> ServerAPIRequest {
        let state = await store.state
        /// Returns the token, if it is valid at this time, and the time.
        func validToken(at now: Date) -> (BearerToken, Date)? {
            BearerToken(request.headers[.authorization], key: key, now: now).map { ($0, now) }
        }
        guard let (token, now) = validToken(at: self.now()) ?? validToken(at: state.now),
            let app = try? state.appIndex(token.bundleID)
        else { throw Unauthorized() }
        if let error = await fault.next() {
            // The developer's server may try again in a second.
            if error == .rateLimitExceeded { throw RateLimited(until: now.addingTimeInterval(1)) }
            throw error
        }
        if let end = await rateLimit.countRequest(rate, of: token.bundleID, at: now) { throw RateLimited(until: end) }
        guard let body = try? await request.body.collect(upTo: 1 << 16) else { throw ServerAPIError.generalBadRequest }
        return ServerAPIRequest(
            id: context.parameters.get("id") ?? "",
            parameters: request.uri.queryParameters.map { (String($0.key), String($0.value)) },
            body: Array(body.readableBytesView), state: state, app: app, signer: store.signer)
    }

    /// The error for a request without a valid token, or for an unknown app.
    private struct Unauthorized: Error {}

    /// The error for a request above the rate limit.
    private struct RateLimited: Error {
        /// The time at which requests are answered again.
        let until: Date
    }
}

extension Response {
    static func json(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(object).bytes)))
    }

    fileprivate static func refusal(_ error: ServerAPIError) -> Response {
        .json(
            ["errorCode": .number(String(error.rawValue)), "errorMessage": .string(error.message)],
            status: HTTPResponse.Status(code: error.status))
    }
}
