package import Foundation
package import TenureCore

/// Everything that the client knows about one Apple Account: evidence that the App Store signed, and answers about it.
/// If evidence of another account is read, everything is discarded.
package struct Account: Sendable, Hashable {
    /// What identifies the account: the ID of its app transaction, or the date when the account got the app. Nil until
    /// the ID or the date is known.
    package private(set) var key: AcquisitionKey?
    /// The App Store environment that signed the evidence; nil until an app transaction was read.
    package private(set) var environment: AppStoreEnvironment?
    /// The app to which the app transaction belongs. Nil until an app transaction was read.
    package private(set) var bundleID: String?
    /// Proofs of when and in which version the account got the app, the latest proof last.
    package private(set) var proofs: [AppProof] = []
    /// The account's transactions, sorted by date.
    private(set) var purchases: [Purchase] = []
    /// The latest renewal info of each subscription.
    package private(set) var renewals: [Renewal] = []
    /// The service's signed statement of the account's rights. Nil if the app has no service, or if the service hasn't
    /// sent a token.
    package var entitlementToken: String?
    /// The signed statements, oldest first, in which a trusted key vouches for the key that signed the token.
    var keyStatements: [String] = []
    /// The answers in the service's last response, by entitlement.
    var serviceAnswers: [String: Tenure.Answer] = [:]
    /// The time when the service last responded. Nil if the service must be asked again.
    package var answeredAt: Date?
    /// Entitlements that were denied when the client last read all sources. New evidence or a new policy empties the
    /// set. Until the service responds, these entitlements stay denied.
    var denials: Set<String> = []

    /// Whether the last request to the service contained everything that could grant an entitlement, so that a denial
    /// by the service is definite.
    var sentEverything = false
    /// The IDs of transactions about which the service hasn't answered yet.
    var unansweredTransactions: Set<String> = []
    /// The IDs of transactions that the service rejected. Tenure finishes such a transaction only after the app has
    /// delivered it.
    var refusedTransactions: Set<String> = []
    /// The IDs of transactions that the app has delivered and that aren't finished yet.
    var deliveredTransactions: Set<String> = []
    /// In a client without a service, the granted answers under the last readable policy, by entitlement. The answers
    /// are used if a later release of the app can't read its policy.
    package var grantedByDevice: [String: Tenure.Answer] = [:]

    /// The stored name of the persona (a test customer) that the answers are about: see `Tenure.Persona.storedName`.
    /// Nil if the answers are about the real customer.
    var persona: String?

    /// The ID of the previous account's app transaction, which StoreKit still returns. Nil if StoreKit returns the app
    /// transaction of the current account.
    var staleAppTransactionID: String?

    /// The maximum number of stored purchases of one account, including periods of subscriptions.
    private static let maximumPurchases = 5000
    /// The maximum number of stored proofs.
    private static let maximumProofs = 400

    /// Whether an app transaction belongs to another account.
    func isAnotherAccount(than app: AppStoreAppTransaction) -> Bool {
        isAnotherAccount(than: AcquisitionKey(of: app.proof), in: app.environment)
    }

    /// Whether another copy of the state, such as another process's copy, is about another account.
    func isAnotherAccount(than account: Account) -> Bool {
        isAnotherAccount(than: account.key, in: account.environment)
    }

    /// Whether a key and an environment belong to another account. False if too little is known to tell.
    private func isAnotherAccount(than other: AcquisitionKey?, in environment: AppStoreEnvironment?) -> Bool {
        if let mine = self.environment, let environment, mine != environment { return true }
        guard let key, let other else { return false }
        if let mine = key.appTransactionID, let theirs = other.appTransactionID { return mine != theirs }
        // If an ID is missing, the purchase date identifies the account. The date is the same after a refund and on
        // other devices.
        guard key.originalPurchaseDate != nil, other.originalPurchaseDate != nil else { return false }
        return !key.matches(other)
    }

    /// Whether a transaction belongs to another account. False if the account or the transaction has no app transaction
    /// ID.
    func isAnotherAccount(than transaction: AppStoreTransaction) -> Bool {
        guard let mine = key?.appTransactionID, let theirs = transaction.appTransactionID else { return false }
        return mine != theirs
    }

    /// Discards the service's response and the rights that the device granted, because they are about another customer
    /// or can't be trusted.
    mutating func discardServiceAnswers() {
        entitlementToken = nil
        keyStatements = []
        serviceAnswers = [:]
        sentEverything = false
        answeredAt = nil
        denials = []
        grantedByDevice = [:]
    }

    /// Discards the service's response after its signing key was revoked. An attacker may have written the response, so
    /// the service may not have the purchases that the response confirmed.
    mutating func discardDistrustedAnswers() {
        discardServiceAnswers()
        refusedTransactions = []
        unansweredTransactions = Set(purchases.map(\.transactionID))
    }

    /// Sets the evidence from the stored state, and derives `key` from it.
    ///
    /// - Parameter appTransactionID: identifies the account if no proof has an ID, such as before the first app
    ///   transaction was read.
    mutating func restore(
        environment: AppStoreEnvironment?, bundleID: String?, appTransactionID: String?, proofs: [AppProof],
        purchases: [Purchase], renewals: [Renewal]
    ) {
        self.environment = environment
        self.bundleID = bundleID
        self.proofs = Self.proofsToStore(proofs)
        self.purchases = purchases
        self.renewals = renewals
        key = proofs.lazy.map(AcquisitionKey.init(of:)).first { $0.appTransactionID != nil }
        if key == nil, let appTransactionID { key = AcquisitionKey(ofAppTransaction: appTransactionID) }
        key = key ?? proofs.first.map(AcquisitionKey.init(of:))
    }

    /// Adds an app transaction. Returns whether it has facts that the account didn't have.
    @discardableResult package mutating func add(_ app: AppStoreAppTransaction) -> Bool {
        let before = (environment, proofs.last?.withoutSigning)
        if key?.appTransactionID == nil { key = AcquisitionKey(of: app.proof) }
        environment = app.environment
        bundleID = app.bundleID
        if !proofs.contains(app.proof) { proofs = Self.proofsToStore(proofs + [app.proof]) }
        return before != (environment, proofs.last?.withoutSigning)
    }

    /// Takes the account's ID from a transaction, if no app transaction was read yet.
    mutating func setIDIfMissing(from transaction: AppStoreTransaction) {
        if key == nil { key = transaction.appTransactionID.map { AcquisitionKey(ofAppTransaction: $0) } }
    }

    /// Adds transactions. Returns whether they have facts that the account didn't have.
    @discardableResult package mutating func add(_ transactions: [AppStoreTransaction]) -> Bool {
        for transaction in transactions { setIDIfMissing(from: transaction) }
        return insert(transactions.map(\.purchase))
    }

    /// Adds purchases, and marks new and changed purchases as unanswered. Returns whether a purchase is new or has
    /// changed.
    @discardableResult mutating func insert(_ received: [Purchase]) -> Bool {
        let oldFacts = Dictionary(purchases.map { ($0.transactionID, $0.withoutSigning) }) { first, _ in first }
        var byID = Dictionary(purchases.map { ($0.transactionID, $0) }) { first, _ in first }
        for purchase in received {
            byID[purchase.transactionID] = byID[purchase.transactionID]?.joined(with: purchase) ?? purchase
        }
        purchases = Self.purchasesToStore(Array(byID.values)).sorted { $0.isEarlier(than: $1) }
        let changed = purchases.filter { oldFacts[$0.transactionID] != $0.withoutSigning }
        unansweredTransactions.formUnion(changed.map(\.transactionID))
        return !changed.isEmpty
    }

    /// Adds renewal infos of subscriptions. Returns whether they have facts that the account didn't have.
    @discardableResult package mutating func add(_ received: [Renewal]) -> Bool {
        let oldFacts = Dictionary(renewals.map { ($0.originalTransactionID, $0.withoutSigning) }) { first, _ in first }
        for renewal in received {
            if let index = renewals.firstIndex(where: { $0.originalTransactionID == renewal.originalTransactionID }) {
                if renewal.supersedes(renewals[index]) { renewals[index] = renewal }
            } else if renewals.count < Self.maximumPurchases {
                renewals.append(renewal)
            }
        }
        // A new grace period extends the subscription's latest period, so the service must answer about it again.
        let changed = Set(
            renewals.filter { oldFacts[$0.originalTransactionID] != $0.withoutSigning }.map(\.originalTransactionID))
        for subscription in changed {
            let periods = purchases.lazy.filter { $0.originalTransactionID == subscription }
            let latest = periods.max { ($0.expiresDate ?? .distantPast) < ($1.expiresDate ?? .distantPast) }
            if let latest { unansweredTransactions.insert(latest.transactionID) }
        }
        return !changed.isEmpty
    }

    /// Returns all evidence of the account, from which a policy decides.
    ///
    /// - Parameters:
    ///   - purchasesAreComplete: whether all purchases were read. Only then can a missing purchase be a reason to deny.
    ///   - persona: the test customer that replaces the real customer; nil for the real customer.
    func evidence(
        in environment: AppStoreEnvironment, purchasesAreComplete: Bool, persona: Persona? = nil
    ) -> Evidence {
        Evidence(
            environment: environment, app: proofs, transactions: purchases, renewals: renewals,
            purchasesAreComplete: purchasesAreComplete, persona: persona)
    }

    /// Returns only the purchases with these transaction IDs, and all renewals, as evidence.
    package func evidence(in environment: AppStoreEnvironment, of transactions: Set<String>) -> Evidence {
        Evidence(
            environment: environment,
            transactions: purchases.filter { transactions.contains($0.transactionID) }, renewals: renewals)
    }

    /// How the account got the app. Nil until a proof was read.
    package var acquisition: Acquisition? { proofs.isEmpty ? nil : acquisitions(in: proofs).first }

    /// Returns the purchases to store. If there are too many, drops the oldest consumables and purchases of unknown
    /// types first, and then the oldest periods of subscriptions.
    private static func purchasesToStore(_ purchases: [Purchase]) -> ArraySlice<Purchase> {
        guard purchases.count > maximumPurchases else { return purchases[...] }
        return purchases.sorted { first, second in
            first.storageRank == second.storageRank
                ? first.isEarlier(than: second) : first.storageRank < second.storageRank
        }.suffix(maximumPurchases)
    }

    /// Returns the proofs to store. If there are too many, keeps the earliest, the last revoked and the latest proofs.
    static func proofsToStore(_ proofs: [AppProof]) -> [AppProof] {
        let proofs = condensed(proofs)
        guard proofs.count > maximumProofs else { return proofs }
        var kept = Set(proofs.indices.suffix(maximumProofs - 2)).union([0])
        if let revoked = proofs.lastIndex(where: { $0.revocationDate != nil }) { kept.insert(revoked) }
        return kept.sorted().map { proofs[$0] }
    }

    // MARK: Facts

    // If the App Store signs the same facts again, only the signing date differs. A new signing date isn't new
    // evidence.

    /// The facts that the App Store signed, without signing dates. Two copies of an account with the same facts have
    /// the same evidence.
    struct SignedFacts: Hashable {
        let environment: AppStoreEnvironment?
        let proof: AppProof?
        let purchases: Set<Purchase>
        let renewals: Set<Renewal>
    }

    /// The facts of this copy.
    var signedFacts: SignedFacts {
        SignedFacts(
            environment: environment, proof: proofs.last?.withoutSigning,
            purchases: Set(purchases.map(\.withoutSigning)), renewals: Set(renewals.map(\.withoutSigning)))
    }
}

extension AcquisitionKey {
    fileprivate init(ofAppTransaction id: String) {
        self.init(appTransactionID: id, downloadID: nil, originalPurchaseDate: nil)
    }
}

extension Purchase {
    fileprivate func isEarlier(than other: Purchase) -> Bool {
        (purchaseDate ?? .distantPast, transactionID) < (other.purchaseDate ?? .distantPast, other.transactionID)
    }

    /// The priority in storage. Purchases with a higher rank are dropped later.
    fileprivate var storageRank: Int {
        switch type {
        case .consumable, .unknown, nil: 0
        case .autoRenewable: 1
        case .nonConsumable, .nonRenewing: 2
        }
    }

    /// The purchase without its signing date.
    fileprivate var withoutSigning: Purchase {
        Purchase(
            transactionID: transactionID, originalTransactionID: originalTransactionID, productID: productID,
            type: type, purchaseDate: purchaseDate, expiresDate: expiresDate, revocationDate: revocationDate,
            isUpgraded: isUpgraded, isFamilyShared: isFamilyShared, signedDate: nil)
    }
}

extension Renewal {
    /// The renewal without its signing date.
    fileprivate var withoutSigning: Renewal {
        Renewal(
            originalTransactionID: originalTransactionID, productID: productID,
            gracePeriodExpiresDate: gracePeriodExpiresDate, isInBillingRetryPeriod: isInBillingRetryPeriod,
            signedDate: nil)
    }
}
