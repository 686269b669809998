import Hummingbird
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The routes that change customers: grants and revocations of entitlements, links to users of the app's server, merges
/// of customers who are the same person, and erasure.
struct ChangeHandlers: Sendable {
    let customers: CustomerReader
    let verifier: AppStoreVerifier
    let accessTokenKey: AccessTokenKey
    /// What happens if a customer's acquisition of the app is linked to another user already.
    let transfer: Transfer

    /// `POST /v1/admin/customers/{id}/grants`: grants an entitlement.
    @Sendable func grant(_ call: AdminCall, id: String) async throws -> Response {
        let body = try await call.body(GrantRequest.self)
        let reason = try AdminParameter.reason(body.reason)
        if let until = body.until, until <= customers.now() {
            throw Problem(.malformedRequest, "`until` is in the past; send a date in the future")
        }
        try await check(entitlement: body.entitlement, of: id)
        return try await respond(
            to: call, performing: .grant(entitlement: body.entitlement, until: body.until), on: id, reason: reason)
    }

    /// `POST /v1/admin/customers/{id}/revocations`: revokes an entitlement, even if purchases or promises would grant
    /// it. A promise is a recorded right to an entitlement, which later policy edits can't take.
    @Sendable func revoke(_ call: AdminCall, id: String) async throws -> Response {
        let body = try await call.body(RevocationRequest.self)
        let reason = try AdminParameter.reason(body.reason)
        try await check(entitlement: body.entitlement, of: id)
        return try await respond(to: call, performing: .revoke(entitlement: body.entitlement), on: id, reason: reason)
    }

    /// Checks the name of an entitlement. Throws `malformedRequest` if it is neither in the policy nor promised to this
    /// customer. A promise may have a name that the policy no longer has.
    private func check(entitlement: String, of id: String) async throws {
        let policies = customers.policies
        try await policies.refresh()
        guard policies.current.entitlement(named: entitlement) == nil else { return }
        let customer = try await customers.store.read { try $0.customer(named: id) }
        guard customer?.facts.promises.contains(where: { $0.entitlement == entitlement }) == true else {
            throw Problem(
                .malformedRequest,
                """
                the policy doesn't have this entitlement; use one of \
                \(policies.current.entitlements.map { "`\($0.name)`" }.joined(separator: ", "))
                """)
        }
    }

    /// `POST /v1/admin/customers/{id}/merges`: merges another customer into this one.
    @Sendable func merge(_ call: AdminCall, id: String) async throws -> Response {
        let body = try await call.body(MergeRequest.self)
        let other = try AdminParameter.id(body.other, "other")
        return try await respond(
            to: call, performing: .merge(other: other), on: id, reason: try AdminParameter.reason(body.reason))
    }

    /// `DELETE /v1/admin/customers/{id}/merges/{other}`: undoes a merge. Each customer gets back the artifacts from
    /// before the merge.
    @Sendable func unmerge(_ call: AdminCall, id: String) async throws -> Response {
        let other = try call.context.pathID("other")
        return try await respond(
            to: call, performing: .unmerge(other: other), on: id, reason: try call.request.reason())
    }

    /// `POST /v1/admin/customers/{id}/links`: support links a user to a customer.
    @Sendable func link(_ call: AdminCall, id: String) async throws -> Response {
        try await link(try await call.body(UserRequest.self).userID, to: .publicID(id), call)
    }

    /// `DELETE /v1/admin/customers/{id}/links/{user}`: unlinks a user.
    @Sendable func unlink(_ call: AdminCall, id: String) async throws -> Response {
        let user = try call.context.pathID("user")
        let outcome = try await perform(
            .unlink(user: user), on: .publicID(id), reason: try call.request.reason(), for: call)
        return try response(to: outcome, user: user, isLinked: false)
    }

    /// `POST /v1/link`: the app's server links its user to a customer. The request names the customer by an access
    /// token, which proves that the user's app has the customer's purchases, or by a public ID, which proves nothing.
    @Sendable func linkByServer(_ call: AdminCall) async throws -> Response {
        let body = try await call.body(LinkRequest.self)
        let customer: CustomerName
        switch (body.accessToken, body.customer) {
        case (let text?, nil): customer = .rowID(try await customerRowID(in: text))
        case (nil, let id?): customer = .publicID(try AdminParameter.id(id, "customer"))
        default: throw Problem(.malformedRequest, "send either `accessToken` or `customer`")
        }
        return try await link(body.userID, to: customer, call)
    }

    private func link(_ user: String, to customer: CustomerName, _ call: AdminCall) async throws -> Response {
        let outcome = try await perform(
            .link(user: try AdminParameter.id(user, "userID"), transfer), on: customer, for: call)
        return try response(to: outcome, user: user, isLinked: true)
    }

    /// Returns the response to linking or unlinking. Its field `isNew` is false if nothing changed. The response has
    /// only the customer's public ID, because a key of the scope `link` may not read customers.
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
    /// or if its realm (a signing authority, see `Realm`) isn't accepted or doesn't have this customer.
    private func customerRowID(in text: String) async throws -> Int64 {
        guard let token = accessTokenKey.token(in: text.utf8), customers.now() < token.expiresAt,
            customers.realms.contains(token.realm), let customer = try await customers.store.lookUp(token.customer),
            customer.realm == token.realm
        else {
            // The status isn't 401, which would mean that the request's admin key is invalid.
            throw Problem(.malformedRequest, "`accessToken` is invalid or expired; let the app sync again")
        }
        return token.customer
    }

    /// `DELETE /v1/admin/customers/{id}`: responds with the number of removed rows of each kind.
    @Sendable func erase(_ call: AdminCall, id: String) async throws -> Response {
        let outcome = try await perform(.erase, on: .publicID(id), reason: try call.request.reason(), for: call)
        guard case .erased(let counts) = outcome else { throw Problem.unexpectedOutcome }
        return .jsonObject { json in
            json.field("erased", id)
            json.field("removed", counts)
        }
    }

    /// Performs a change, and responds with the customer as they are after it.
    private func respond(
        to call: AdminCall, performing change: CustomerChange, on id: String, reason: String?
    ) async throws -> Response {
        let outcome = try await perform(change, on: .publicID(id), reason: reason, for: call)
        guard case .done(let customer, _) = outcome else { throw Problem.unexpectedOutcome }
        let answer = try await customers.answer(for: customer, to: call.request)
        return .json(capacity: 4096) { $0.value(answer) }
    }

    /// Performs a change, and returns its outcome. If the change is refused, throws a problem that names the refusal in
    /// its field `reason`.
    ///
    /// - Parameter reason: Why support makes the change, for the audit trail.
    private func perform(
        _ change: CustomerChange, on customer: CustomerName, reason: String? = nil, for call: AdminCall
    ) async throws -> ChangeOutcome {
        let id = try call.request.idempotencyKey()
        try await checkRealm(of: customer, for: change, by: call.actor)
        let (store, now) = (customers.store, customers.now())
        let requested = RequestedChange(change, actor: call.actor, reason: reason, at: now, request: id)
        // When merged customers are separated, a `Rederivation` verifies their artifacts again, to find what each
        // customer has. Most artifacts are verified here, before the transaction of the change, because other requests
        // wait for that transaction.
        let derivation = Derivation(verifier: verifier)
        let rederivation =
            change.maySeparateCustomers
            ? try await derivation.rederivation(of: customer, in: store) : derivation.rederivation
        let outcome = try await store.perform(requested, on: customer, using: rederivation)
        var metadata: Logger.Metadata = ["action": "\(change.name)", "key": "\(call.actor)"]
        if case .refused(let refusal) = outcome { metadata["refused"] = "\(refusal.rawValue)" }
        call.context.logger.info("customer change", metadata: metadata)
        if case .refused(let refusal) = outcome { throw Problem(refusal) }
        return outcome
    }

    /// Checks that this service accepts the customer's realm. Otherwise adds the refusal to the audit trail, and throws
    /// as if the customer didn't exist. The realm of a row ID was checked when the access token was read.
    private func checkRealm(of customer: CustomerName, for change: CustomerChange, by actor: String) async throws {
        guard case .publicID(let id) = customer,
            let storedCustomer = try await customers.store.read({ try $0.customer(named: id) }),
            !customers.realms.contains(storedCustomer.realm)
        else { return }
        let refusal = ChangeOutcome.Refusal.noSuchCustomer
        let entry = AuditEntry(
            at: customers.now(), actor: actor, action: change.name, customer: id,
            detail: ["refused": refusal.rawValue])
        try await customers.store.write { try $0.audit(entry) }
        throw Problem(refusal)
    }
}

extension Problem {
    /// The problem if the database returns the outcome of another kind of change, such as the outcome of an erasure
    /// after a grant. That would be a defect of the service.
    static let unexpectedOutcome = Problem(
        .internalError,
        "the database didn't return the outcome of this change; read the customer to see whether it was made")

    /// Creates the response to a refused change.
    fileprivate init(_ refusal: ChangeOutcome.Refusal) {
        let isNotFound = [.noSuchCustomer, .noSuchOther, .notLinked, .notMerged].contains(refusal)
        let detail =
            switch refusal {
            case .noSuchCustomer: "there is no customer with this ID; check the ID"
            case .noSuchOther: "there is no customer with the ID in `other`; check the ID"
            case .otherEnvironment:
                "the customers are in different environments; merge only customers of the same environment"
            case .unboundProof:
                """
                the customer is unbound: no proof shows that these purchases belong to them; sync with \
                `deviceVerificationID` on the customer's device first, or find the customer by their \
                `appTransactionId` or `originalTransactionId`
                """
            case .linkedToAnotherUser:
                """
                the Apple Account that got the app is linked to another user, and the setting `transfer` is `never`; \
                unlink that user first, or ask support
                """
            case .separated: "a merge of these customers was undone; to join them again, merge them in the admin API"
            case .notLinked: "this user isn't linked to this customer; check both IDs"
            case .notMerged: "the other customer isn't merged into this customer; check both IDs"
            case .alreadyMerged: "the customers are already merged; there is nothing to do"
            case .tooManyMerged: "too many customers would be merged; undo merges of different people first"
            case .requestReused: "this `Idempotency-Key` belongs to another change; use a new one"
            }
        self.init(isNotFound ? .notFound : .conflict, detail, reason: refusal.rawValue)
    }
}
