import Foundation
import TenureAppStore
import TenureCore
import TenurePolicyFile
import TenureStore

/// Derives the facts of the customers in one database again, from the stored artifacts, under the given trust anchors.
struct DatabaseDerivation: Sendable {
    private let derivation: Derivation

    /// Creates the derivation. The last policy that can be read identifies the app for which artifacts must be signed.
    init(trust: TrustConfiguration, policies: [StoredPolicy]) {
        let app = policies.reversed().lazy.compactMap { try? PolicyFile.read($0.compiled, named: "policy").app }.first
        derivation = Derivation(
            verifier: AppStoreVerifier(
                app: AppIdentity(bundleID: app?.bundleID, appAppleID: app?.appleID), trust: trust))
    }

    /// Derives a customer's facts. If an artifact can't be verified, throws `damaged` with its name.
    func facts(of rows: CustomerRows) throws(StoreError) -> CustomerFacts {
        var facts = try derivation.facts(of: rows)
        // When a member has the maximum number of artifacts, the database stores only the facts of further artifacts.
        if rows.isFull { facts.add(rows.customer.facts) }
        return facts
    }
}

extension CustomerFacts {
    /// Returns the names of the parts in which these facts differ from `others`, for a message.
    func differences(from others: CustomerFacts) -> [String] {
        var words: [String] = []
        if proofs != others.proofs { words.append("proofs of the app") }
        if purchases != others.purchases { words.append("purchases") }
        if renewals != others.renewals { words.append("renewals") }
        if purchasesAreComplete != others.purchasesAreComplete { words.append("whether all purchases are known") }
        if isUnbound != others.isUnbound { words.append("whether the customer is unbound") }
        if promises != others.promises { words.append("promises") }
        if support != others.support { words.append("grants and revocations") }
        return words
    }
}
