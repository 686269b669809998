import Foundation
import TenureAppStore
import TenureCore
import TenurePolicyFile
import TenureStore

/// What the customers of one record should be known for, under the given anchors.
struct RecordDerivation: Sendable {
    private let derivation: Derivation

    /// The app is that of the record's last policy.
    init(trust: TrustConfiguration, policies: [StoredPolicy]) {
        let app = policies.reversed().lazy.compactMap { try? PolicyFile.read($0.compiled, named: "policy").app }.first
        derivation = Derivation(
            verifier: AppStoreVerifier(
                app: AppIdentity(bundleID: app?.bundleID, appAppleID: app?.appleID), trust: trust))
    }

    /// Throws `damaged`, naming the artifact, where one does not verify.
    func facts(of ledger: CustomerRows) throws(StoreError) -> CustomerFacts {
        var facts = try derivation.facts(of: ledger)
        // What came when the ledger was full is known and stands nowhere else.
        if ledger.isFull { facts.add(ledger.customer.facts) }
        return facts
    }
}

extension CustomerFacts {
    /// In what they differ from `others`, in words.
    func differences(from others: CustomerFacts) -> [String] {
        var words: [String] = []
        if proofs != others.proofs { words.append("proofs of the app") }
        if purchases != others.purchases { words.append("purchases") }
        if renewals != others.renewals { words.append("renewals") }
        if purchasesAreComplete != others.purchasesAreComplete { words.append("whether all purchases are known") }
        if isUnbound != others.isUnbound { words.append("whether it is bound") }
        if promises != others.promises { words.append("promises") }
        if support != others.support { words.append("acts of support") }
        return words
    }
}
