import Foundation
import TenureCore

/// Writes `CustomerFacts` in `FactsFormat`.
struct FactsWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ facts: CustomerFacts) {
        // Small facts fit into this, so the array doesn't grow several times.
        bytes.reserveCapacity(256)
        bytes.append(FactsFormat.version)
        var flags: FactsFormat.Flags<FactsFormat.FactsField> = []
        if facts.purchasesAreComplete { flags.insert(.purchasesAreComplete) }
        if facts.isUnbound { flags.insert(.isUnbound) }
        append(number: flags.rawValue)
        append(facts.proofs) { $0.append($1) }
        append(facts.purchases) { $0.append($1) }
        append(facts.renewals) { $0.append($1) }
        append(facts.promises) { $0.append($1) }
        append(facts.support) { $0.append($1) }
    }

    /// Appends the length of a list and its entries. The functions for one entry append flags first, then the fields
    /// that the flags name.
    private mutating func append<Entry>(_ list: [Entry], _ body: (inout FactsWriter, Entry) -> Void) {
        append(number: UInt64(list.count))
        for entry in list { body(&self, entry) }
    }

    private mutating func append(_ proof: AppProof) {
        var flags: FactsFormat.Flags<FactsFormat.ProofField> = []
        if proof.signedDate != nil { flags.insert(.signedDate) }
        switch proof.id {
        case .appTransaction: flags.insert(.appTransactionID)
        case .download: flags.insert(.downloadID)
        case nil: break
        }
        if proof.originalPlatform != nil { flags.insert(.platform) }
        if proof.originalAppVersion != nil { flags.insert(.version) }
        if proof.originalPurchaseDate != nil { flags.insert(.purchaseDate) }
        if proof.preorderDate != nil { flags.insert(.preorderDate) }
        if proof.revocationDate != nil { flags.insert(.revocationDate) }
        if proof.expirationDate != nil { flags.insert(.expirationDate) }
        append(number: flags.rawValue)
        append(code: proof.kind, in: FactsFormat.proofKinds)
        append(proof.signedDate)
        switch proof.id {
        case .appTransaction(let id), .download(let id): append(id)
        case nil: break
        }
        if let platform = proof.originalPlatform { append(code: platform, in: FactsFormat.platforms) }
        append(proof.originalAppVersion)
        append(proof.originalPurchaseDate)
        append(proof.preorderDate)
        append(proof.revocationDate)
        append(proof.expirationDate)
    }

    private mutating func append(_ purchase: Purchase) {
        var flags: FactsFormat.Flags<FactsFormat.PurchaseField> = []
        let hasOtherOriginal = purchase.originalTransactionID != purchase.transactionID
        if hasOtherOriginal { flags.insert(.originalTransactionID) }
        if purchase.type != nil { flags.insert(.type) }
        if purchase.purchaseDate != nil { flags.insert(.purchaseDate) }
        if purchase.expiresDate != nil { flags.insert(.expiresDate) }
        if purchase.revocationDate != nil { flags.insert(.revocationDate) }
        if purchase.signedDate != nil { flags.insert(.signedDate) }
        if purchase.isUpgraded { flags.insert(.isUpgraded) }
        if purchase.isFamilyShared { flags.insert(.isFamilyShared) }
        append(number: flags.rawValue)
        append(purchase.transactionID)
        if hasOtherOriginal { append(purchase.originalTransactionID) }
        append(purchase.productID)
        switch purchase.type {
        case .unknown(let name):
            bytes.append(FactsFormat.unknownProductType)
            append(name)
        case let type?: append(code: type, in: FactsFormat.productTypes)
        case nil: break
        }
        append(purchase.purchaseDate)
        append(purchase.expiresDate)
        append(purchase.revocationDate)
        append(purchase.signedDate)
    }

    private mutating func append(_ renewal: Renewal) {
        var flags: FactsFormat.Flags<FactsFormat.RenewalField> = []
        if renewal.productID != nil { flags.insert(.productID) }
        if renewal.gracePeriodExpiresDate != nil { flags.insert(.gracePeriodExpiresDate) }
        if renewal.isInBillingRetryPeriod { flags.insert(.isInBillingRetryPeriod) }
        if renewal.signedDate != nil { flags.insert(.signedDate) }
        append(number: flags.rawValue)
        append(renewal.originalTransactionID)
        append(renewal.productID)
        append(renewal.gracePeriodExpiresDate)
        append(renewal.signedDate)
    }

    private mutating func append(_ promise: StoredPromise) {
        var flags: FactsFormat.Flags<FactsFormat.PromiseField> = []
        if promise.acquisition.appTransactionID != nil { flags.insert(.appTransactionID) }
        if promise.acquisition.downloadID != nil { flags.insert(.downloadID) }
        if promise.acquisition.originalPurchaseDate != nil { flags.insert(.purchaseDate) }
        if promise.until != nil { flags.insert(.until) }
        append(number: flags.rawValue)
        append(promise.entitlement)
        append(promise.acquisition.appTransactionID)
        append(promise.acquisition.downloadID)
        append(promise.acquisition.originalPurchaseDate)
        append(number: UInt64(bitPattern: promise.policyVersion))
        append(promise.until)
        append(promise.recordedAt)
    }

    private mutating func append(_ grant: SupportGrant) {
        var flags: FactsFormat.Flags<FactsFormat.SupportField> = []
        if grant.kind == .revocation { flags.insert(.isRevocation) }
        if grant.until != nil { flags.insert(.until) }
        append(number: flags.rawValue)
        append(grant.entitlement)
        append(grant.date)
        append(grant.until)
    }

    // MARK: Parts

    /// Appends a number in base 128, the lowest digit first.
    private mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a text after its length; nothing for nil.
    private mutating func append(_ text: String?) {
        guard let text else { return }
        append(number: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a date; nothing for nil.
    private mutating func append(_ date: Date?) {
        guard let date else { return }
        withUnsafeBytes(of: date.timeIntervalSinceReferenceDate.bitPattern.littleEndian) {
            bytes.append(contentsOf: $0)
        }
    }

    /// Appends the number that a value has in this table, which has all values.
    private mutating func append<Value: Equatable>(code value: Value, in table: [(Value, UInt8)]) {
        for (known, code) in table where known == value {
            bytes.append(code)
            return
        }
    }
}

extension CustomerFacts {
    /// The facts in `FactsFormat`, as the database stores them.
    package var encoded: [UInt8] {
        var writer = FactsWriter()
        writer.append(self)
        return writer.bytes
    }
}
