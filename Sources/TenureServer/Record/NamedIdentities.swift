import TenureAppStore
import TenureCore
import TenureStore

/// By what verified artifacts name a customer: the one place that knows which of their ids do.
struct NamedIdentities: Sendable, Hashable {
    /// By what the customer is found again, each once, in the order of the artifacts.
    private(set) var identities: [Identity] = []
    /// By what people find the customer, and nobody who sends something; see `Identity.Kind`.
    private var accountTokens: [Identity] = []
    private var orders: [Order] = []
    private var seen: Set<Identity> = []

    private struct Order: Sendable, Hashable {
        let transactionID: String
        let identity: Identity
    }

    mutating func add(_ identity: Identity) {
        if seen.insert(identity).inserted { identities.append(identity) }
    }

    mutating func add(_ payload: AppTransactionPayload) { add(account: payload.appTransactionID) }

    /// `purchase`: nil where the transaction names none.
    mutating func add(_ payload: TransactionPayload, _ purchase: Purchase?) {
        add(account: payload.appTransactionID)
        guard let purchase else { return }
        add(Identity(.originalTransactionID, purchase.originalTransactionID))
        add(accountToken: payload.appAccountToken, of: purchase.originalTransactionID)
        add(order: payload.webOrderLineItemID, of: purchase.transactionID)
    }

    mutating func add(_ payload: RenewalInfoPayload, _ renewal: Renewal?) {
        add(account: payload.appTransactionID)
        guard let renewal else { return }
        add(Identity(.originalTransactionID, renewal.originalTransactionID))
        add(accountToken: payload.appAccountToken, of: renewal.originalTransactionID)
    }

    mutating func add(_ receipt: Verified<ReceiptPayload>) {
        if case .download(let id) = receipt.proof.id { add(Identity(.downloadID, id)) }
        for purchase in receipt.purchases { add(Identity(.originalTransactionID, purchase.originalTransactionID)) }
        for purchase in receipt.payload.inAppPurchases {
            add(order: purchase.webOrderLineItemID.map { String($0) }, of: purchase.transactionID)
        }
    }

    /// By what people are to find the customer. Of transactions that are known already the orders are too.
    func forPeople(beyond known: Customer?) -> [Identity] {
        let transactions = orders.isEmpty ? [] : Set(known?.facts.purchases.map(\.transactionID) ?? [])
        return accountTokens + orders.filter { !transactions.contains($0.transactionID) }.map(\.identity)
    }

    private mutating func add(account id: String?) {
        if let id, !id.isEmpty { add(Identity(.appTransactionID, id)) }
    }

    private mutating func add(accountToken token: String?, of originalTransactionID: String) {
        guard let identity = Identity(appAccountToken: token, of: originalTransactionID),
            seen.insert(identity).inserted
        else { return }
        accountTokens.append(identity)
    }

    private mutating func add(order id: String?, of transactionID: String) {
        // Receipts have a zero where there is none.
        guard let id, !id.isEmpty, id != "0" else { return }
        let identity = Identity(.webOrderLineItemID, id)
        if seen.insert(identity).inserted { orders.append(Order(transactionID: transactionID, identity: identity)) }
    }
}
