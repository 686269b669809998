import TenureAppStore
import X509

@testable import TenureMint

extension TestAuthority {
    /// Issues the chain for receipts again, with SHA-1 in every certificate, like the chains of old receipts.
    func receiptChainWithSHA1() throws -> AuthorityChain {
        func issue(
            _ role: AuthorityRole, for key: AuthorityKey, by issuer: IssuedCertificate?
        ) throws -> IssuedCertificate {
            var recipe = role.recipe(for: .receipt)
            recipe.signatureAlgorithm = .sha1WithRSAEncryption
            return try recipe.issue(for: key, by: issuer)
        }
        let root = try issue(.root, for: receipts.root.key, by: nil)
        let intermediate = try issue(.intermediate, for: receipts.intermediate.key, by: root)
        let leaf = try issue(.leaf, for: receipts.leaf.key, by: intermediate)
        return AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
    }
}
