import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// What a line proves of a customer, with all their names.
struct Entry {
    /// The strongest first; never empty.
    let names: [CustomerName]
    let exportedID: String?
    let facts: CustomerFacts

    var environment: AppStoreEnvironment { AppStoreEnvironment.allCases[Int(names[0].realm)] }
}

/// The verified artifacts of one line, one after the other.
struct EntryDraft {
    private let exportedID: String?
    private let purchasesAreComplete: Bool
    private var environment: AppStoreEnvironment?
    private var proofs: [AppProof] = []
    private var purchases: [Purchase] = []
    private var renewals: [Renewal] = []
    private var names: Set<Name> = []
    private var contents: [[UInt8]] = []

    private struct Name: Hashable {
        let kind: CustomerNameKind
        let text: String
    }

    init(exportedID: String?, purchasesAreComplete: Bool) {
        self.exportedID = exportedID
        self.purchasesAreComplete = purchasesAreComplete
        if let exportedID { names.insert(Name(kind: .exported, text: exportedID)) }
    }

    /// Why it counts for nothing beside the artifacts before it; nil where it counts.
    mutating func add(_ artifact: VerifiedArtifact) -> Rejection? {
        let known = names.count
        if let environment, environment != artifact.environment {
            return Rejection(
                .wrongEnvironment,
                "it was signed in \(artifact.environment.rawValue), and what stands before it in \(environment.rawValue)"
            )
        }
        do throws(Rejection) {
            switch artifact {
            case .appTransaction(let verified):
                proofs.append(verified.proof)
                name(.appTransaction, verified.payload.appTransactionID)
            case .transaction(let verified):
                let purchase = try verified.purchase
                purchases.append(purchase)
                name(.appTransaction, verified.payload.appTransactionID)
                name(.purchase, purchase.originalTransactionID)
            case .renewalInfo(let verified):
                let renewal = try verified.renewal
                renewals.append(renewal)
                name(.appTransaction, verified.payload.appTransactionID)
                name(.purchase, renewal.originalTransactionID)
            case .receipt(let verified):
                proofs.append(verified.proof)
                purchases += verified.purchases
                if case .download(let id)? = verified.proof.id { name(.download, id) }
                for purchase in verified.purchases { name(.purchase, purchase.originalTransactionID) }
            case .notification:
                return Rejection(.wrongKind, "a notification is no part of a customer's artifacts")
            }
        } catch {
            return error
        }
        environment = artifact.environment
        // What names nobody is known by what it says: it may come again.
        if names.count == known, !namesSomebody(artifact) { contents.append(artifact.signedContentDigest) }
        return nil
    }

    /// Whether it has a name of its own, be it known already from what stands before it.
    private func namesSomebody(_ artifact: VerifiedArtifact) -> Bool {
        switch artifact {
        case .appTransaction(let verified): verified.payload.appTransactionID?.isEmpty == false
        case .receipt(let verified): verified.proof.id != nil || !verified.purchases.isEmpty
        case .transaction, .renewalInfo, .notification: true
        }
    }

    private mutating func name(_ kind: CustomerNameKind, _ text: String?) {
        guard let text, !text.isEmpty else { return }
        names.insert(Name(kind: kind, text: text))
    }

    /// Nil where no artifact counts. Throws where they are of several accounts.
    func entry() throws(LineFault) -> Entry? {
        guard let environment, let realm = AppStoreEnvironment.allCases.firstIndex(of: environment) else { return nil }
        guard names.count(where: { $0.kind == .appTransaction }) <= 1 else {
            throw LineFault(.severalAccounts, "it holds artifacts of several Apple Accounts; write a line for each")
        }
        var all = names
        for content in contents {
            all.insert(Name(kind: .content, text: Self.hexadecimal(content)))
        }
        // The same order whatever stands first in the line: of several of one kind the smallest leads.
        let sorted = all.sorted { $0.kind != $1.kind ? $0.kind > $1.kind : $0.text < $1.text }
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
        facts.purchasesAreComplete = purchasesAreComplete
        return Entry(
            names: sorted.map { CustomerName(kind: $0.kind, realm: UInt8(realm), text: $0.text) },
            exportedID: exportedID, facts: facts)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        // 128 bits tell all artifacts of the world apart.
        return String(
            decoding: bytes.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
