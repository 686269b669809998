import Foundation
import Hummingbird
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/orders/{order}`: asks the App Store what was bought under an id that stands in its receipts by
    /// e-mail, and says whom it belongs to by what is signed in the answer. Nothing of it is recorded.
    @Sendable func findByOrder(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .read)
        let id = try parameter("order", in: context)
        guard let appStore else {
            throw Problem(
                .misconfigured,
                """
                this service has no key to ask the App Store with; name one by `appStore.issuerID`, `appStore.keyID` \
                and `appStore.privateKeyFile`
                """)
        }
        let order: TransactionList?
        do throws(AppStoreFailure) {
            order = try await appStore.order(id, before: appStore.time.uptime() + Self.patienceForOrders)
        } catch {
            throw Problem(error)
        }
        var json = JSONWriter(capacity: 1024)
        json.value(try await answer(to: order))
        return .json(json)
    }

    private func answer(to order: TransactionList?) async throws -> OrderAnswer {
        let transactions = order?.transactions ?? []
        var customers: [Customer] = []
        for (artifact, purchase) in transactions {
            var names = NamedIdentities()
            names.add(artifact.payload, purchase)
            for identity in names.identities {
                // Of the very realm in which it was signed, and by ids that were signed.
                for customer in try await store.read({
                    try $0.customers(withAnyID: identity.value, in: [artifact.realm])
                })
                where customer.facts.prove(identity) && !customers.contains(where: { $0.id == customer.id }) {
                    customers.append(customer)
                }
            }
        }
        return OrderAnswer(
            isValid: order != nil, purchases: transactions.map(\.purchase), problems: order?.rejected.problems ?? [],
            customers: customers.map { FoundCustomer($0) })
    }

    /// Seconds: somebody waits for the answer.
    private static let patienceForOrders: TimeInterval = 20
}

extension CustomerFacts {
    /// Whether something signed says so: an app may call its users by numbers, too, and one of them be the same.
    fileprivate func prove(_ identity: Identity) -> Bool {
        switch identity.kind {
        case .appTransactionID: proofs.contains { $0.id == .appTransaction(identity.value) }
        case .originalTransactionID:
            purchases.contains { $0.originalTransactionID == identity.value }
                || renewals.contains { $0.originalTransactionID == identity.value }
        default: false
        }
    }
}

extension Problem {
    /// As whoever asked is told: what they may do, or who runs the service.
    fileprivate init(_ failure: AppStoreFailure) {
        switch failure {
        case .invalidID: self.init(.malformedRequest, "no order has such an id; paste it as it stands in the receipt")
        case .refused(let refusal) where refusal.code?.saysBadRequest == true:
            self.init(.malformedRequest, "the App Store takes no such id; paste it as it stands in the receipt")
        case .notServed:
            self.init(
                .misconfigured, "orders are known in production alone, and this service does not accept `production`")
        case .refused(let refusal) where !failure.isRetryable && refusal.status == 404:
            self.init(.notFound, "the App Store knows no such order")
        case .refused where !failure.isRetryable:
            self.init(.misconfigured, failure.description)
        case .notAuthorized, .cannotSign: self.init(.misconfigured, failure.description)
        case .refused, .unreachable, .timedOut, .tooLarge, .unreadable, .untrusted, .held, .cancelled:
            self.init(.busy, failure.description, retryAfter: 5)
        }
    }
}
