import Foundation
import Hummingbird
import TenureAPI
import TenureStore

/// Reads customers for the admin API. A customer's realm is the environment of the App Store, or the test authority,
/// that signed their artifacts. Customers of a realm that the service doesn't accept are treated as not found.
struct CustomerReader: Sendable {
    let store: Store
    let policies: ActivePolicy
    let realms: AcceptedRealms
    let now: @Sendable () -> Date

    /// The problem for an unknown customer. Its detail doesn't repeat the requested ID, because the ID may be a user's
    /// name.
    private static let noSuchCustomer = Problem(
        .notFound, "there is no customer with this ID; find customers with `POST /v1/admin/customers/find`")

    /// Returns what is stored about the customer with this public ID. Throws `notFound` if there is no such customer.
    ///
    /// - Parameters:
    ///   - parts: The optional parts to read too, such as the bytes of artifacts.
    ///   - unboundAfter: The last row ID before the page of unbound customers (`DatabaseTransaction`).
    func details(
        _ id: String, with parts: CustomerDetails.Parts = [], unboundAfter: Int64 = 0
    ) async throws -> CustomerDetails {
        let details = try await store.read {
            try $0.details(of: .publicID(id), with: parts, unboundAfter: unboundAfter)
        }
        guard let details, realms.contains(details.customer.realm) else { throw Self.noSuchCustomer }
        return details
    }

    /// Returns the customer's decisions, freshly evaluated, with titles in the languages that the request accepts.
    /// Throws `notFound` if `Store.customerForResponse` returns nil.
    func answer(for customer: Customer, to request: Request) async throws -> CustomerAnswer {
        guard let customer = try await store.customerForResponse(customer) else { throw Self.noSuchCustomer }
        let (evidence, now) = (customer.evidence, now())
        let decisions = try await policies.upToDate { try policies.decide(customer.facts, evidence, at: now) }
        var answer = CustomerAnswer(customer, evidence: evidence, decisions: decisions)
        answer.languages = request.languages
        return answer
    }
}
