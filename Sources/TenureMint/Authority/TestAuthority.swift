import Crypto
import CryptoExtras
package import Foundation
import SwiftASN1
package import TenureAppStore
package import X509

/// Signs as the App Store does, with separate roots: for tests, wherever an operator trusts them.
/// Its keys are random. A folder keeps them; Tenure ships no private key.
package struct TestAuthority: Sendable {
    /// P-384, P-384, P-256: signs JWS.
    package let jws: AuthorityChain
    /// RSA-2048: signs receipts.
    package let receipts: AuthorityChain
    /// P-256, self-signed, as Xcode signs JWS.
    package let xcodeJWS: IssuedCertificate
    /// RSA-2048, self-signed, as Xcode signs receipts.
    let xcodeReceipts: IssuedCertificate

    init(
        jws: AuthorityChain,
        receipts: AuthorityChain,
        xcodeJWS: IssuedCertificate,
        xcodeReceipts: IssuedCertificate
    ) {
        self.jws = jws
        self.receipts = receipts
        self.xcodeJWS = xcodeJWS
        self.xcodeReceipts = xcodeReceipts
    }

    /// A new authority with random keys.
    package init() throws {
        try self.init(receiptsOf: nil)
    }

    /// A new authority that signs receipts with the keys of another one, which saves the time for RSA keys.
    package init(receiptsOf other: TestAuthority?) throws {
        let root = try AuthorityRole.root.recipe(for: .jws).issue(for: .p384(P384.Signing.PrivateKey()), by: nil)
        let intermediate = try AuthorityRole.intermediate.recipe(for: .jws)
            .issue(for: .p384(P384.Signing.PrivateKey()), by: root)
        let leaf = try AuthorityRole.leaf.recipe(for: .jws).issue(
            for: .p256(P256.Signing.PrivateKey()), by: intermediate)
        jws = AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)

        if let other {
            receipts = other.receipts
            xcodeReceipts = other.xcodeReceipts
        } else {
            func rsa() throws -> AuthorityKey { .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)) }
            let root = try AuthorityRole.root.recipe(for: .receipt).issue(for: rsa(), by: nil)
            let intermediate = try AuthorityRole.intermediate.recipe(for: .receipt)
                .issue(for: rsa(), by: root)
            let leaf = try AuthorityRole.leaf.recipe(for: .receipt).issue(for: rsa(), by: intermediate)
            receipts = AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
            xcodeReceipts = try AuthorityRole.xcode.recipe(for: .receipt).issue(for: rsa(), by: nil)
        }
        xcodeJWS = try AuthorityRole.xcode.recipe(for: .jws).issue(for: .p256(P256.Signing.PrivateKey()), by: nil)
    }

    /// Both roots: the anchors for production and sandbox artifacts.
    package var anchors: TrustAnchors {
        get throws(Rejection) { try TrustAnchors(der: [jws.root.der, receipts.root.der]) }
    }

    /// Both certificates of a developer's Xcode.
    package var xcodeAnchors: TrustAnchors {
        get throws(Rejection) { try TrustAnchors(der: [xcodeJWS.der, xcodeReceipts.der]) }
    }

    /// The chain for artifacts signed at `instant`. It is made again for a defect or another signature algorithm.
    package func chain(
        for purpose: ChainPurpose,
        defect: ChainDefect? = nil,
        signedAt instant: Date,
        signatureAlgorithm: Certificate.SignatureAlgorithm? = nil
    ) throws -> AuthorityChain {
        let sound = purpose == .jws ? jws : receipts
        guard defect != nil || signatureAlgorithm != nil else { return sound }

        var rootRecipe = AuthorityRole.root.recipe(for: purpose)
        var intermediateRecipe = AuthorityRole.intermediate.recipe(for: purpose)
        var leafRecipe = AuthorityRole.leaf.recipe(for: purpose)
        rootRecipe.signatureAlgorithm = signatureAlgorithm
        intermediateRecipe.signatureAlgorithm = signatureAlgorithm
        leafRecipe.signatureAlgorithm = signatureAlgorithm
        var rootKey = sound.root.key
        var leafKey = sound.leaf.key
        let year: TimeInterval = 366 * 86400
        switch defect {
        case .missingLeafMarker: leafRecipe.markers = []
        case .missingIntermediateMarker: intermediateRecipe.markers = []
        case .swappedMarkers: swap(&leafRecipe.markers, &intermediateRecipe.markers)
        case .criticalMarker: leafRecipe.markersAreCritical = true
        case .unknownCriticalExtension: leafRecipe.hasUnknownCriticalExtension = true
        case .namesakeRoot:
            rootKey = purpose == .jws ? .p384(P384.Signing.PrivateKey()) : xcodeReceipts.key
        case .leafExpiredAtSigning: leafRecipe.notAfter = instant.addingTimeInterval(-86400)
        case .intermediateExpiredAtSigning: intermediateRecipe.notAfter = instant.addingTimeInterval(-86400)
        case .rootExpiredAtSigning: rootRecipe.notAfter = instant.addingTimeInterval(-86400)
        case .leafExpiredSince:
            leafRecipe.notBefore = instant.addingTimeInterval(-year)
            leafRecipe.notAfter = instant.addingTimeInterval(60)
        case .intermediateNotAuthority: intermediateRecipe.basicConstraints = .notCertificateAuthority
        case .leafIsAuthority: leafRecipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
        case .foreignKey:
            leafKey = purpose == .jws ? .p384(P384.Signing.PrivateKey()) : .p256(P256.Signing.PrivateKey())
        case .leafAsIntermediate, nil: break
        }
        if defect == .leafAsIntermediate {
            let leaf = try leafRecipe.issue(for: leafKey, by: sound.leaf)
            return AuthorityChain(root: sound.root, intermediate: sound.leaf, leaf: leaf)
        }
        let isRootTouched = defect == .namesakeRoot || defect == .rootExpiredAtSigning || signatureAlgorithm != nil
        let root = isRootTouched ? try rootRecipe.issue(for: rootKey, by: nil) : sound.root
        let intermediate =
            switch defect {
            case .missingIntermediateMarker, .swappedMarkers, .intermediateExpiredAtSigning, .intermediateNotAuthority:
                try intermediateRecipe.issue(for: sound.intermediate.key, by: root)
            default:
                isRootTouched ? try intermediateRecipe.issue(for: sound.intermediate.key, by: root) : sound.intermediate
            }
        let leaf = try leafRecipe.issue(for: leafKey, by: intermediate)
        return AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
    }
}

/// The position of a certificate in Apple's shape.
package enum AuthorityRole: UInt8, Sendable {
    case root = 1
    case intermediate
    case leaf
    case xcode

    package func recipe(for purpose: ChainPurpose) -> CertificateRecipe {
        let serial: [UInt8] = [0x54, purpose == .jws ? 0x01 : 0x02, rawValue]
        // Long enough for artifacts of every era since the App Store opened, within the range of UTCTime.
        let opening = Date(timeIntervalSince1970: 1_199_145_600)  // 2008-01-01
        let closing = Date(timeIntervalSince1970: 2_493_072_000)  // 2049-01-01
        var recipe = CertificateRecipe(
            commonName: "Tenure Test Root CA (\(purpose == .jws ? "JWS" : "receipts"))",
            organization: "Tenure Test Authority",
            notBefore: opening,
            notAfter: closing,
            basicConstraints: .isCertificateAuthority(maxPathLength: nil),
            signsCertificates: true,
            serialNumber: serial
        )
        switch self {
        case .root: break
        case .intermediate:
            recipe.commonName = "Tenure Test Developer Relations CA (\(purpose == .jws ? "JWS" : "receipts"))"
            recipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
            recipe.markers = [AppleMarker.developerRelations]
        case .leaf:
            recipe.commonName = "Tenure Test App Store Receipt Signing (\(purpose == .jws ? "JWS" : "receipts"))"
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
