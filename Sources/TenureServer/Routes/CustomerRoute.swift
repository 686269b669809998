import Foundation
import Hummingbird
import TenureAPI
import TenureStore

/// `GET /v1/customer`: the customer's decisions, freshly evaluated.
struct CustomerRoute: Sendable {
    let store: Store
    let policies: ActivePolicy
    let access: CustomerAccess
    let personas: ActivePersonas
    let now: @Sendable () -> Date
    let metrics: ServiceMetrics
    /// `Database.lookUpNow`, which returns the customer with a row ID, or nil, without suspending. Nil for a database
    /// that can't do so. Stored here, because the database creates a new closure on each access.
    let lookUp: (@Sendable (Int64) throws(StoreError) -> Customer?)?

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let now = now()
        let token = try access.token(of: request, now: now)
        let storedCustomer =
            if let lookUp { try lookUp(token.customer) } else { try await store.lookUp(token.customer) }
        guard let storedCustomer, storedCustomer.realm == token.realm,
            let customer = try await store.customerForResponse(storedCustomer)
        else { throw Problem.accessTokenRefused }
        let persona = token.persona == nil ? nil : try await personas.persona(of: token, at: now)
        let evidence = customer.evidence(as: persona)
        // Usually, the decision needs neither the database nor another task.
        let decisions =
            if policies.isFresh, policies.hasReadVersions(of: customer.facts.promises) {
                try policies.decide(customer.facts, evidence, at: now)
            } else {
                try await policies.upToDate { try policies.decide(customer.facts, evidence, at: now) }
            }
        metrics.countDecisions(decisions)
        var answer = CustomerAnswer(customer, evidence: evidence, decisions: decisions)
        answer.languages = request.languages
        return .json(capacity: 2048) { $0.value(answer) }
    }
}
