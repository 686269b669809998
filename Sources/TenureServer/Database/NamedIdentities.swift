import TenureAppStore
import TenureCore
import TenureStore

/// Collects the identities in verified artifacts: the IDs by which the database finds their customer. Only this code
/// decides which IDs in artifacts identify customers.
struct NamedIdentities: Sendable {
    /// The identities that find the customer, each once, in the order of the artifacts.
    private(set) var identities: [Identity] = []
    /// The `appAccountToken`s of purchases. Only support finds the customer by them, not a sync, because a client could
    /// invent them.
    private var accountTokens: [Identity] = []
    /// The IDs of transactions with an order ID (Apple's `webOrderLineItemId`), and the identity of the order. As with
    /// account tokens, only support finds the customer by them.
    private var orders: [(transactionID: String, identity: Identity)] = []
    /// All identities in the three arrays above, so that each is added once.
    private var added: Set<Identity> = []

    /// Adds an identity, unless it was added before.
    mutating func add(_ identity: Identity) {
        if added.insert(identity).inserted { identities.append(identity) }
    }

    /// Adds the identity of an app transaction: the account's acquisition of the app.
    mutating func add(_ payload: AppTransactionPayload) { add(account: payload.appTransactionID) }

    /// Adds a transaction's identities. `purchase` is nil if the transaction contains no purchase.
    mutating func add(_ payload: TransactionPayload, _ purchase: Purchase?) {
        add(account: payload.appTransactionID)
        guard let purchase else { return }
        add(Identity(.originalTransactionID, purchase.originalTransactionID))
        add(accountToken: payload.appAccountToken, of: purchase.originalTransactionID)
        add(order: payload.webOrderLineItemID, of: purchase.transactionID)
    }

    /// Adds the identities of renewal info. `renewal` is nil if the renewal info has no original transaction ID.
    mutating func add(_ payload: RenewalInfoPayload, _ renewal: Renewal?) {
        add(account: payload.appTransactionID)
        guard let renewal else { return }
        add(Identity(.originalTransactionID, renewal.originalTransactionID))
        add(accountToken: payload.appAccountToken, of: renewal.originalTransactionID)
    }

    /// Adds the identities of a receipt and its purchases.
    mutating func add(_ receipt: Verified<ReceiptPayload>) {
        if case .download(let id) = receipt.proof.id { add(Identity(.downloadID, id)) }
        for purchase in receipt.purchases { add(Identity(.originalTransactionID, purchase.originalTransactionID)) }
        for purchase in receipt.payload.inAppPurchases {
            add(order: purchase.webOrderLineItemID.map { String($0) }, of: purchase.transactionID)
        }
    }

    /// Returns the identities by which support finds the customer: account tokens, and the orders of new transactions.
    ///
    /// - Parameter storedCustomer: The customer as stored; nil for a new customer. The orders of the transactions that
    ///   are stored with the customer are left out, because the database has them already.
    func searchableIdentities(beyond storedCustomer: Customer?) -> [Identity] {
        let storedIDs = orders.isEmpty ? [] : Set(storedCustomer?.facts.purchases.map(\.transactionID) ?? [])
        return accountTokens + orders.filter { !storedIDs.contains($0.transactionID) }.map(\.identity)
    }

    /// Adds the ID of the account's app transaction, unless it is missing or empty.
    private mutating func add(account id: String?) {
        if let id, !id.isEmpty { add(Identity(.appTransactionID, id)) }
    }

    /// Adds the `appAccountToken` that the app set for a purchase, unless it is missing.
    private mutating func add(accountToken token: String?, of originalTransactionID: String) {
        guard let identity = Identity(appAccountToken: token, of: originalTransactionID),
            added.insert(identity).inserted
        else { return }
        accountTokens.append(identity)
    }

    /// Adds the order ID of a transaction, unless it is missing.
    private mutating func add(order id: String?, of transactionID: String) {
        // Receipts contain a zero if the ID is missing.
        guard let id, !id.isEmpty, id != "0" else { return }
        let identity = Identity(.webOrderLineItemID, id)
        if added.insert(identity).inserted { orders.append((transactionID, identity)) }
    }
}
