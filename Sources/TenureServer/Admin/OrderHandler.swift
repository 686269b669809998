import Foundation
import Hummingbird
package import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The route that looks up an order ID in the App Store, for support.
struct OrderHandler: Sendable {
    let keys: AdminKeyCheck
    let store: Store
    /// The App Store Server API; nil if the service has no key for it.
    let appStore: AppStoreClient?

    /// The timeout of the call to the App Store, in seconds. The timeout is short, because a person waits for the
    /// response.
    private static let timeout: TimeInterval = 20

    /// `GET /v1/admin/orders/{order}`: asks the App Store which purchases belong to an order ID from one of its email
    /// receipts, and finds their customers. The route stores nothing.
    @Sendable func find(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await keys.holder(of: request, context, needing: .read)
        let id = try context.pathID("order")
        guard let appStore else {
            throw Problem(
                .misconfigured,
                """
                the service has no key for the App Store Server API; set `appStore.issuerID`, `appStore.keyID` and \
                `appStore.privateKeyFile`
                """)
        }
        let order: TransactionList?
        do throws(AppStoreFailure) {
            order = try await appStore.order(id, before: appStore.time.uptime() + Self.timeout)
        } catch {
            throw Problem(error)
        }
        let transactions = order?.transactions ?? []
        let customers = try await customers(of: transactions)
        return .jsonObject(capacity: 1024) { json in
            typealias Key = OrderResponse.CodingKeys
            json.field(Key.isValid, order != nil)
            json.field(Key.purchases, transactions.map(\.purchase)) { $0.value($1) }
            json.field(Key.problems, order?.rejected.problems ?? []) { $0.value($1) }
            json.field(Key.customers, customers) { $0.value(summaryOf: $1) }
        }
    }

    /// Returns the customers with artifacts that contain one of these transactions. Searches for each transaction only
    /// in its realm: the authority that signed it.
    private func customers(
        of transactions: [(artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)]
    ) async throws -> [Customer] {
        var customers: [Customer] = []
        for (artifact, purchase) in transactions {
            var namedIdentities = NamedIdentities()
            namedIdentities.add(artifact.payload, purchase)
            for identity in namedIdentities.identities {
                for customer in try await store.read({
                    try $0.customers(withAnyID: identity.value, in: [artifact.realm])
                })
                where customer.facts.prove(identity) && !customers.contains(where: { $0.id == customer.id }) {
                    customers.append(customer)
                }
            }
        }
        return customers
    }
}

extension CustomerFacts {
    /// Whether the customer's signed artifacts contain this ID. The search by ID isn't enough: it also finds customers
    /// with a user ID, chosen by the app's server, that is the same number by chance.
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
    /// Creates the response after a failed call to the App Store. It says what the client must change, what the
    /// operator must correct in the configuration, or that the client may try again.
    fileprivate init(_ failure: AppStoreFailure) {
        switch failure {
        case .invalidID:
            self.init(.malformedRequest, "this can't be an order ID; copy the ID from the App Store's email receipt")
        case .refused(let refusal) where refusal.code?.isBadRequest == true:
            self.init(
                .malformedRequest, "the App Store rejects this order ID; copy it from the App Store's email receipt")
        case .notServed:
            self.init(
                .misconfigured,
                """
                only production has order IDs, and this service doesn't accept production; add `production` to the setting \
                `environments`
                """)
        case .refused(let refusal) where !failure.isRetryable && refusal.status == 404:
            self.init(.notFound, "the App Store has no order of this app with this ID; check the ID")
        case .refused where !failure.isRetryable:
            self.init(.misconfigured, failure.description)
        case .notAuthorized, .cannotSign: self.init(.misconfigured, failure.description)
        case .refused, .unreachable, .timedOut, .tooLarge, .unreadable, .untrusted, .throttled, .canceled:
            self.init(.busy, failure.description, retryAfter: 5)
        }
    }
}

/// The response of `GET /v1/admin/orders/{order}`, as a client reads it.
package struct OrderResponse: Sendable, Hashable, Decodable {
    /// Whether the App Store has this order of the app.
    package let isValid: Bool
    /// The verified purchases of the order.
    package let purchases: [PurchaseResponse]
    /// The artifacts that can't be verified.
    package let problems: [ArtifactProblem]
    /// The customers with these purchases.
    package let customers: [FoundCustomers.Customer]

    enum CodingKeys: String, CodingKey {
        case isValid, purchases, problems, customers
    }
}
