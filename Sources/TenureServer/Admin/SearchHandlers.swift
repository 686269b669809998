import Foundation
import Hummingbird
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The routes that find customers, by an ID, by an artifact or by an order of the App Store.
struct SearchHandlers: Sendable {
    let store: Store
    /// The accepted realms: environments and test authorities. Customers of other realms aren't found.
    let realms: AcceptedRealms
    let verifier: AppStoreVerifier
    /// The client of the App Store Server API; nil if the service has no key for it.
    let appStore: AppStoreClient?
    let now: @Sendable () -> Date

    /// `GET /v1/admin/customers?id=…`: finds customers by an ID of any kind.
    @Sendable func find(_ call: AdminCall) async throws -> Response {
        guard let text = call.request.uri.queryParameters["id"] else {
            throw Problem(.malformedRequest, "`id` is missing; add the ID to find as `?id=…`")
        }
        let matches = try await customers(withID: try AdminParameter.id(String(text), "id"), in: realms.all)
        return .jsonObject { $0.objects("customers", matches) { $0.summaryFields(of: $1) } }
    }

    /// `POST /v1/admin/customers/find`: finds customers by the IDs in an artifact, even if the artifact can't be
    /// verified. The route stores nothing.
    @Sendable func findByArtifact(_ call: AdminCall) async throws -> Response {
        let body = try await call.body(FindRequest.self)
        let pasted = try PastedArtifact(body.artifact, verifiedBy: verifier, now: now())
        var matches: [Customer] = []
        for id in pasted.ids {
            for customer in try await customers(withID: id, in: realms.all)
            where !matches.contains(where: { $0.id == customer.id }) {
                matches.append(customer)
            }
        }
        return .jsonObject { json in
            json.key("artifact")
            json.value(pasted)
            json.objects("customers", matches) { $0.summaryFields(of: $1) }
        }
    }

    private func customers(withID id: String, in realms: [Realm]) async throws -> [Customer] {
        try await store.read { try $0.customers(withAnyID: id, in: realms) }
    }

    /// `GET /v1/admin/orders/{order}`: asks the App Store which purchases belong to an order ID from one of its email
    /// receipts, and finds their customers. The route stores nothing.
    @Sendable func findByOrder(_ call: AdminCall) async throws -> Response {
        let id = try call.context.pathID("order")
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
            order = try await appStore.order(id, before: appStore.time.uptime() + Self.orderTimeout)
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
            json.objects(Key.customers.stringValue, customers) { $0.summaryFields(of: $1) }
        }
    }

    /// Returns the customers who have one of these transactions. Searches for each transaction only in its realm: the
    /// environment or test authority that signed it.
    private func customers(
        of transactions: [(artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)]
    ) async throws -> [Customer] {
        var found: [Customer] = []
        for (artifact, purchase) in transactions {
            var namedIdentities = NamedIdentities()
            namedIdentities.add(artifact.payload, purchase)
            for identity in namedIdentities.identities {
                for customer in try await customers(withID: identity.value, in: [artifact.realm])
                where customer.facts.prove(identity) && !found.contains(where: { $0.id == customer.id }) {
                    found.append(customer)
                }
            }
        }
        return found
    }

    /// The timeout of the call to the App Store, in seconds. The timeout is short, because a person waits for the
    /// response.
    private static let orderTimeout: TimeInterval = 20
}

extension CustomerFacts {
    /// Whether the customer's signed artifacts contain this ID. The search by ID isn't enough: it also searches the
    /// user IDs, which the app's server chooses. A user ID may be the same number by chance.
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
    /// operator must correct, or that the client may try again.
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
        case .refused where !failure.isRetryable, .notAuthorized, .cannotSign:
            self.init(.misconfigured, failure.description)
        case .refused, .unreachable, .timedOut, .tooLarge, .unreadable, .untrusted, .throttled, .canceled:
            self.init(.busy, failure.description, retryAfter: 5)
        }
    }
}

extension JSONWriter {
    /// Writes the fields of a customer that the response to a search has.
    fileprivate mutating func summaryFields(of customer: Customer) {
        typealias Key = FoundCustomers.Customer.CodingKeys
        field(Key.id, customer.publicID)
        field(Key.environment, customer.realm.environment.rawValue)
        if customer.realm.isTest { field("isTest", true) }
        field("createdAt", customer.createdAt)
    }
}
