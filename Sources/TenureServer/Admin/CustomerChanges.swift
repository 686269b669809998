import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// Performs the changes to customers that requests to the admin API ask for, such as grants, links and merges.
struct CustomerChanges: Sendable {
    let customers: CustomerReader
    /// Computes from artifacts what each of several merged customers has, to separate these customers.
    let derivation: Derivation

    /// Performs a change, and returns its outcome. If the change is refused, throws a problem that names the refusal in
    /// its field `reason`.
    ///
    /// - Parameter reason: Why support makes the change, for the audit trail.
    func perform(
        _ change: CustomerChange, on customer: CustomerName, by holder: KeyHolder, reason: String? = nil,
        _ request: Request, _ context: ServiceContext
    ) async throws -> ChangeOutcome {
        let id = try request.idempotencyKey()
        try await checkRealm(of: customer, for: change, by: holder)
        let requested = RequestedChange(
            change, actor: holder.name, reason: reason, at: customers.now(), request: id)
        let store = customers.store
        // Separating merged customers verifies their artifacts again, to find what each of them has. Most artifacts are
        // verified before the transaction of the change, so that other requests don't wait for it.
        let rederivation =
            change.maySeparateCustomers
            ? try await derivation.rederivation(of: customer, in: store) : derivation.rederivation
        let outcome = try await store.perform(requested, on: customer, using: rederivation)
        var metadata: Logger.Metadata = ["action": "\(change.name)", "key": "\(holder.name)"]
        if case .refused(let refusal) = outcome { metadata["refused"] = "\(refusal.rawValue)" }
        context.logger.info("customer change", metadata: metadata)
        if case .refused(let refusal) = outcome { throw Problem(refusal) }
        return outcome
    }

    /// Performs a change, and responds with the customer as they are after it.
    func respond(
        to request: Request, _ context: ServiceContext, performing change: CustomerChange, on id: String,
        by holder: KeyHolder, reason: String?
    ) async throws -> Response {
        let outcome = try await perform(change, on: .publicID(id), by: holder, reason: reason, request, context)
        guard case .done(let customer, _) = outcome else { throw Problem.unexpectedOutcome }
        let answer = try await customers.answer(for: customer, to: request)
        return .json(capacity: 4096) { $0.value(answer) }
    }

    /// Refuses a change to a customer of a realm (a signing authority, see `Realm`) that this service doesn't accept,
    /// as if the customer didn't exist. Adds the refusal to the audit trail.
    private func checkRealm(of customer: CustomerName, for change: CustomerChange, by holder: KeyHolder) async throws {
        guard case .publicID(let id) = customer,
            let storedCustomer = try await customers.store.read({ try $0.customer(named: id) }),
            !customers.realms.contains(storedCustomer.realm)
        else { return }
        let refusal = ChangeOutcome.Refusal.noSuchCustomer
        let entry = AuditEntry(
            at: customers.now(), actor: holder.name, action: change.name, customer: id,
            detail: ["refused": refusal.rawValue])
        try await customers.store.write { try $0.audit(entry) }
        throw Problem(refusal)
    }
}

extension Problem {
    /// The problem if the outcome doesn't fit the requested change, such as the outcome of an erasure after a grant.
    /// That would be a defect of the service.
    static let unexpectedOutcome = Problem(
        .internalError,
        "the database didn't return the outcome of this change; read the customer to see whether it was made")

    /// The status and message of each refused change.
    fileprivate init(_ refusal: ChangeOutcome.Refusal) {
        let (code, detail): (Code, String) =
            switch refusal {
            case .noSuchCustomer: (.notFound, "there is no customer with this ID; check the ID")
            case .noSuchOther: (.notFound, "there is no customer with the ID in `other`; check the ID")
            case .otherEnvironment:
                (.conflict, "the customers are in different environments; merge only customers of the same environment")
            case .unboundProof:
                (
                    .conflict,
                    """
                    no proof shows that these purchases belong to the customer; sync with \
                    `deviceVerificationID` on the customer's device first
                    """
                )
            case .linkedToAnotherUser:
                (
                    .conflict,
                    """
                    the Apple Account that got the app is linked to another user, and the setting `transfer` is `never`; \
                    unlink that user first, or ask support
                    """
                )
            case .separated:
                (.conflict, "a merge of these customers was undone; to join them again, merge them in the admin API")
            case .notLinked: (.notFound, "this user isn't linked to this customer; check both IDs")
            case .notMerged: (.notFound, "the other customer isn't merged into this customer; check both IDs")
            case .alreadyMerged: (.conflict, "the customers are already merged; there is nothing to do")
            case .tooManyMerged:
                (.conflict, "too many customers would be merged; undo merges of different people first")
            case .requestReused: (.conflict, "this `Idempotency-Key` belongs to another change; use a new one")
            }
        self.init(code, detail, reason: refusal.rawValue)
    }
}
