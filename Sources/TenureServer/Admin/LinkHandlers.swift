import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The routes that link customers with the users of the app's server.
struct LinkHandlers: Sendable {
    let keys: AdminKeyCheck
    let customers: CustomerReader
    let changes: CustomerChanges
    let accessTokenKey: AccessTokenKey
    /// What happens if the customer's acquisition of the app is linked to another user already.
    let transfer: Transfer
    let bodySize: Int

    /// `POST /v1/admin/customers/{id}/links`: support links a user to a customer.
    @Sendable func link(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .link, on: id)
        let body = try await request.decoded(UserRequest.self, upTo: bodySize, in: context)
        return try await link(body.userID, to: .publicID(id), by: holder, request, context)
    }

    /// `DELETE /v1/admin/customers/{id}/links/{userID}`: unlinks a user.
    @Sendable func unlink(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .link, on: id)
        let user = try context.pathID("user")
        let outcome = try await changes.perform(
            .unlink(user: user), on: .publicID(id), by: holder, reason: try request.reason(), request, context)
        return try response(to: outcome, user: user, isLinked: false)
    }

    /// `POST /v1/link`: the app's server links its user to a customer. The request contains an access token, which
    /// proves that the user's app has the customer's purchases, or a public ID, which proves nothing.
    @Sendable func linkByServer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await keys.holder(of: request, context, needing: .link)
        let body = try await request.decoded(LinkRequest.self, upTo: bodySize, in: context)
        let customer: CustomerName
        switch (body.accessToken, body.customer) {
        case (let text?, nil): customer = .rowID(try await customerRowID(in: text))
        case (nil, let id?): customer = .publicID(try AdminParameter.id(id, "customer"))
        default: throw Problem(.malformedRequest, "send either `accessToken` or `customer`")
        }
        return try await link(body.userID, to: customer, by: holder, request, context)
    }

    private func link(
        _ user: String, to customer: CustomerName, by holder: KeyHolder, _ request: Request, _ context: ServiceContext
    ) async throws -> Response {
        let outcome = try await changes.perform(
            .link(user: try AdminParameter.id(user, "userID"), transfer), on: customer, by: holder, request, context)
        return try response(to: outcome, user: user, isLinked: true)
    }

    /// Returns the response to linking or unlinking. The response contains only the customer's public ID, because a key
    /// of the scope `link` may not read customers.
    private func response(to outcome: ChangeOutcome, user: String, isLinked: Bool) throws -> Response {
        guard case .done(let customer, let isNew) = outcome else { throw Problem.unexpectedOutcome }
        return .jsonObject { json in
            json.field("customer", customer.publicID)
            json.field("userID", user)
            json.field("isLinked", isLinked)
            json.field("isNew", isNew)
        }
    }

    /// Returns the customer's row ID in an access token. Throws `malformedRequest` if the token is invalid or expired,
    /// or if there is no such customer.
    private func customerRowID(in text: String) async throws -> Int64 {
        guard let token = accessTokenKey.token(in: text.utf8), customers.now() < token.expiresAt,
            customers.realms.contains(token.realm), let customer = try await customers.store.lookUp(token.customer),
            customer.realm == token.realm
        else {
            // Status 401 would mean that the server's admin key is invalid.
            throw Problem(.malformedRequest, "`accessToken` is invalid or expired; let the app sync again")
        }
        return token.customer
    }
}

/// The body of `POST /v1/admin/customers/{id}/links`.
struct UserRequest: AdminRequest {
    /// The ID that the app's server has for the user; at most 256 bytes.
    let userID: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case userID
    }
}

/// The body of `POST /v1/link`. It has either `accessToken` or `customer`.
struct LinkRequest: AdminRequest {
    /// The ID that the app's server has for the user.
    let userID: String
    /// The access token that the user's app received from the service.
    let accessToken: String?
    /// The public ID of a customer.
    let customer: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case userID, accessToken, customer
    }
}
