import Foundation
package import TenureAppStore
import X509

/// The position of a certificate in a chain. The raw value is the last byte of the certificate's serial number.
package enum AuthorityRole: UInt8, Sendable {
    case root = 1
    case intermediate
    case leaf
    /// The single certificate with which Xcode signs.
    case xcode

    /// Returns the contents of a valid certificate for this position.
    package func recipe(for purpose: ChainPurpose) -> CertificateRecipe {
        // The certificate is valid from the year in which the App Store opened. UTCTime can express both dates: its
        // range ends with the year 2049.
        let opening = Date(timeIntervalSince1970: 1_199_145_600)  // 2008-01-01
        let closing = Date(timeIntervalSince1970: 2_493_072_000)  // 2049-01-01
        let suffix = purpose == .jws ? "JWS" : "receipts"
        var recipe = CertificateRecipe(
            commonName: "Tenure Test Root CA (\(suffix))", organization: "Tenure Test Authority", notBefore: opening,
            notAfter: closing, basicConstraints: .isCertificateAuthority(maxPathLength: nil), signsCertificates: true,
            serialNumber: [0x54, purpose == .jws ? 0x01 : 0x02, rawValue])
        switch self {
        case .root: break
        case .intermediate:
            recipe.commonName = "Tenure Test Developer Relations CA (\(suffix))"
            recipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
            recipe.markers = [AppleMarker.developerRelations]
        case .leaf:
            recipe.commonName = "Tenure Test App Store Receipt Signing (\(suffix))"
            recipe.basicConstraints = .notCertificateAuthority
            recipe.signsCertificates = false
            recipe.markers = [AppleMarker.receiptSigner]
        case .xcode:
            recipe.commonName = purpose == .jws ? "StoreKit Testing in Xcode" : "StoreKit"
            recipe.organization = recipe.commonName
            recipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
            recipe.signsCertificates = false
        }
        return recipe
    }
}
