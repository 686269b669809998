import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `POST /v1/admin/customers/{id}/links`
    @Sendable func link(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .link, on: id)
        let body = try await request.decoded(UserRequest.self, upTo: limits.bodySize, in: context)
        return try await link(body.userID, to: .publicID(id), by: holder, request, context)
    }

    /// `DELETE /v1/admin/customers/{id}/links/{userID}`
    @Sendable func unlink(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .link, on: id)
        let user = try parameter("user", in: context)
        let outcome = try await perform(
            .unlink(user: user), on: .publicID(id), by: holder, reason: try reason(of: request), request, context)
        return try linked(outcome, user: user, isLinked: false)
    }

    /// `POST /v1/link`: the app's own server says whose an acquisition is. An access token proves that the user's app
    /// holds it; a public id is the server's own word.
    @Sendable func linkByServer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .link)
        let body = try await request.decoded(LinkRequest.self, upTo: limits.bodySize, in: context)
        let customer: CustomerName
        switch (body.accessToken, body.customer) {
        case (let text?, nil): customer = .number(try await opened(by: text).id)
        case (nil, let id?): customer = .publicID(try self.id(id, "customer"))
        default: throw Problem(.malformedRequest, "send either `accessToken` or `customer`")
        }
        return try await link(body.userID, to: customer, by: holder, request, context)
    }

    private func link(
        _ user: String, to customer: CustomerName, by holder: KeyHolder, _ request: Request, _ context: ServiceContext
    ) async throws -> Response {
        let outcome = try await perform(
            .link(user: try id(user, "userID"), transfer), on: customer, by: holder, request, context)
        return try linked(outcome, user: user, isLinked: true)
    }

    /// Nothing of the record: the app's server learns what it said itself.
    private func linked(_ outcome: ChangeOutcome, user: String, isLinked: Bool) throws -> Response {
        guard case .done(let customer, let isNew) = outcome else {
            throw Problem(.internalError, "the act had no answer")
        }
        var json = JSONWriter()
        json.object { json in
            json.key("customer")
            json.value(customer.publicID)
            json.key("userID")
            json.value(user)
            json.key("isLinked")
            json.value(isLinked)
            json.key("isNew")
            json.value(isNew)
        }
        return .json(json)
    }

    /// Whose record an access token opens, as the one who was named by it.
    private func opened(by text: String) async throws -> (id: Int64, customer: Customer) {
        guard let token = accessTokenKey.token(in: text.utf8), now() < token.expiresAt, realms.contain(token.realm),
            let customer = try await store.lookUp(token.customer), customer.realm == token.realm
        else {
            // Not that of the key: 401 would tell the server that its own key is wrong.
            throw Problem(.malformedRequest, "`accessToken` is wrong or over; let the app sync again")
        }
        return (token.customer, customer)
    }
}
