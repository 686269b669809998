package import TenureCore

/// What the artifacts of one sync prove about the customer's *acquisition* of the app: when and by which Apple Account
/// it was got.
package struct ProvenAcquisition: Sendable {
    private let proofs: [AppProof]
    /// Transaction IDs and original transaction IDs in those artifacts of the sync that contain an `appTransactionId`.
    private let accountPurchases: Set<String>

    package init(_ proofs: [AppProof], accountPurchases: Set<String>) {
        self.proofs = proofs
        self.accountPurchases = accountPurchases
    }

    /// Whether the sync may be about this customer. False if the customer's own proofs prove a different acquisition.
    func mayBelong(to customer: Customer) -> Bool {
        let environment = customer.realm.environment
        // A sync may contain several proofs, and a merged customer may have several acquisitions.
        let ours = Evidence(environment: environment, app: proofs).acquisitions
        // The evidence is computed without purchases, of which there may be thousands.
        let theirs = Evidence(environment: environment, app: customer.facts.proofs).acquisitions
        guard !theirs.isEmpty else { return true }
        guard !ours.isEmpty else { return mayNameAccount(of: customer) }
        return ours.contains { mine in theirs.contains { !mine.key.contradicts($0.key) } }
    }

    /// Whether a sync that proves no acquisition may be about this customer.
    ///
    /// If the customer has an app transaction, and purchases in the sync carry an `appTransactionId`, the customer must
    /// have one of these purchases. Otherwise the purchases belong to another account on the same device.
    private func mayNameAccount(of customer: Customer) -> Bool {
        let facts = customer.facts
        guard !accountPurchases.isEmpty, facts.proofs.contains(where: { $0.kind != .receipt }) else { return true }
        return facts.purchases.contains {
            accountPurchases.contains($0.transactionID) || accountPurchases.contains($0.originalTransactionID)
        }
    }
}

extension AcquisitionKey {
    /// Whether the keys belong to different acquisitions: they don't match, although both have the same kind of ID, or
    /// both have a date. Keys without a common field don't contradict each other.
    fileprivate func contradicts(_ other: AcquisitionKey) -> Bool {
        guard !matches(other) else { return false }
        if appTransactionID != nil, other.appTransactionID != nil { return true }
        if downloadID != nil, other.downloadID != nil { return true }
        return originalPurchaseDate != nil && other.originalPurchaseDate != nil
    }
}
