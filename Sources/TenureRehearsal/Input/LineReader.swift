import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// Parses the lines of an evidence file, and verifies the signed artifacts in them. Many tasks share one reader.
struct LineReader: Sendable {
    let verifier: AppStoreVerifier
    /// Artifacts with a later signing date are rejected.
    let now: Date
    /// Whether a line without `purchasesAreComplete` has all purchases of its customer.
    let purchasesAreComplete: Bool

    /// Parses a line, and verifies each artifact in it. A rejected artifact doesn't prevent the use of the line's other
    /// artifacts.
    ///
    /// - Returns: what the line proves (nil if no artifact is valid, or if the artifacts belong to several accounts),
    ///   and the faults of the line or of rejected artifacts in it.
    func read(_ line: ArraySlice<UInt8>) -> (entry: Entry?, faults: [LineFault]) {
        var reading: (entry: Entry?, faults: [LineFault]) = (nil, [])
        do throws(LineFault) {
            let contents = try EvidenceLine(line)
            var builder = EntryBuilder(
                exportedID: contents.id, purchasesAreComplete: contents.purchasesAreComplete ?? purchasesAreComplete)
            for part in contents.parts {
                do throws(Rejection) {
                    try builder.add(verify(part))
                } catch {
                    reading.faults.append(LineFault(.rejected(error.code), error.detail, part: part.name))
                    if part.mayContainPurchase { builder.purchasesAreComplete = false }
                }
            }
            reading.entry = try builder.entry()
        } catch {
            reading.faults.append(error)
        }
        return reading
    }

    /// Verifies the signature of one artifact.
    private func verify(_ part: EvidenceLine.Part) throws(Rejection) -> VerifiedArtifact {
        switch part.kind {
        case .jws: return try verifier.verifyEvidence(part.bytes, now: now)
        // Also accept app transactions from the App Store Server API. No field binds them to a device, so the service
        // doesn't accept them from an app. But a rehearsal gives no one access.
        case .appTransaction:
            let bytes = Array(part.bytes)
            return .appTransaction(try verifier.verifyAppTransaction(bytes, from: .appStoreServer, now: now))
        case .transaction: return .transaction(try verifier.verifyTransaction(Array(part.bytes), now: now))
        case .renewalInfo: return .renewalInfo(try verifier.verifyRenewalInfo(Array(part.bytes), now: now))
        case .receipt: return .receipt(try verifier.verifyReceipt(receiptBytes(base64: part.bytes), now: now))
        }
    }
}

/// What one line of an evidence file proves about a customer, and the names in the line: IDs of the customer.
struct Entry {
    /// The names, the most reliable kind first (see `CustomerNameKind`); never empty.
    let names: [CustomerName]
    /// The `id` in the line: the customer's ID in the system that exported the file. Nil if the line has no `id`.
    let exportedID: String?
    /// What the line's artifacts prove.
    let facts: CustomerFacts
}

/// Collects the verified artifacts of one line, and creates the line's `Entry` from them.
struct EntryBuilder {
    private let exportedID: String?
    /// Whether the added artifacts contain all purchases of the line's customer.
    var purchasesAreComplete: Bool
    /// The environment of the line's valid artifacts; nil until the first valid artifact is added.
    private var environment: AppStoreEnvironment?
    private var proofs: [AppProof] = []
    private var purchases: [Purchase] = []
    private var renewals: [Renewal] = []
    /// The customer's IDs in the order of the artifacts, perhaps with repetitions.
    private var names: [(kind: CustomerNameKind, text: String)] = []

    init(exportedID: String?, purchasesAreComplete: Bool) {
        self.exportedID = exportedID
        self.purchasesAreComplete = purchasesAreComplete
        addName(.exported, exportedID)
    }

    /// Adds an artifact. If it can't be combined with the line's earlier artifacts, throws the reason instead.
    mutating func add(_ artifact: consuming VerifiedArtifact) throws(Rejection) {
        let artifactEnvironment = artifact.environment
        if let environment, environment != artifactEnvironment {
            throw Rejection(
                .wrongEnvironment,
                "this artifact was signed in \(artifactEnvironment.rawValue), but the line's earlier artifacts were signed in \(environment.rawValue)"
            )
        }
        switch consume artifact {
        case .appTransaction(let verified):
            proofs.append(verified.proof)
            let id = verified.payload.appTransactionID
            addName(.appTransaction, id)
            if (id ?? "").isEmpty { addName(byContent: verified.signedContentDigest) }
        case .transaction(let verified):
            let purchase = try verified.purchase
            purchases.append(purchase)
            addName(.appTransaction, verified.payload.appTransactionID)
            addName(.purchase, purchase.originalTransactionID)
        case .renewalInfo(let verified):
            let renewal = try verified.renewal
            renewals.append(renewal)
            addName(.appTransaction, verified.payload.appTransactionID)
            addName(.purchase, renewal.originalTransactionID)
        case .receipt(let verified):
            let (proof, receiptPurchases) = (verified.proof, verified.purchases)
            proofs.append(proof)
            purchases += receiptPurchases
            if case .download(let id)? = proof.id { addName(.download, id) }
            for purchase in receiptPurchases { addName(.purchase, purchase.originalTransactionID) }
            if proof.id == nil, receiptPurchases.isEmpty { addName(byContent: verified.signedContentDigest) }
        case .notification:
            throw Rejection(
                .wrongKind,
                "this artifact is a notification; export the signed transaction in the notification instead")
        }
        environment = artifactEnvironment
    }

    /// Adds a name of the customer. A missing or empty name is ignored.
    private mutating func addName(_ kind: CustomerNameKind, _ text: String?) {
        if let text, !text.isEmpty { names.append((kind, text)) }
    }

    /// Uses the digest as the name of an artifact without an ID, so that a repeated artifact is counted only once.
    private mutating func addName(byContent digest: [UInt8]) {
        // 128 bits suffice to distinguish all artifacts.
        addName(.content, digest.prefix(16).hexadecimal)
    }

    /// Returns the line's entry; nil if no artifact is valid. Throws if the artifacts belong to several accounts.
    func entry() throws(LineFault) -> Entry? {
        guard let environment, let index = AppStoreEnvironment.allCases.firstIndex(of: environment) else { return nil }
        // Without repetitions, the most reliable first. So the order of artifacts in the line doesn't matter.
        let names = names.map { CustomerName(kind: $0.kind, environmentIndex: UInt8(index), text: $0.text) }
            .sorted { $0.precedes($1) }
            .reduce(into: [CustomerName]()) { if $0.last != $1 { $0.append($1) } }
        // Each account has one `appTransactionId`, which is the most reliable kind of name.
        guard names.count < 2 || names[1].kind != .appTransaction else {
            throw LineFault(
                .severalAccounts,
                "the line has artifacts of several Apple Accounts; write a line for each account, with the same `id`")
        }
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
        facts.purchasesAreComplete = purchasesAreComplete
        return Entry(names: names, exportedID: exportedID, facts: facts)
    }
}
