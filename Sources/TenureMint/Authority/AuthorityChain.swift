import TenureAppStore

/// A chain of root, intermediate and signer, like Apple's, or with one `ChainDefect`.
package struct AuthorityChain: Sendable {
    /// The self-signed certificate that verifiers trust.
    package let root: IssuedCertificate
    /// The certificate that the root signed and that signed the leaf.
    package let intermediate: IssuedCertificate
    /// The signer's certificate.
    package let leaf: IssuedCertificate

    /// The certificates with their keys, the signer's first, as in a receipt.
    var issued: [IssuedCertificate] { [leaf, intermediate, root] }
    /// The certificates in DER, the signer's first, as in `x5c`.
    var certificates: [[UInt8]] { issued.map(\.der) }
}

extension AuthorityChain {
    /// Issues a valid chain for these keys.
    init(
        for purpose: ChainPurpose, rootKey: AuthorityKey, intermediateKey: AuthorityKey, leafKey: AuthorityKey
    ) throws {
        root = try AuthorityRole.root.recipe(for: purpose).issue(for: rootKey, by: nil)
        intermediate = try AuthorityRole.intermediate.recipe(for: purpose).issue(for: intermediateKey, by: root)
        leaf = try AuthorityRole.leaf.recipe(for: purpose).issue(for: leafKey, by: intermediate)
    }
}
