import Crypto
import CryptoExtras
package import Foundation
import SwiftASN1
package import TenureAppStore
import X509

/// A test authority, which signs artifacts like the App Store, with its own roots. Only verifiers that trust these
/// roots accept the artifacts.
///
/// Its keys are random and stored in a folder. Tenure contains no private keys.
package struct TestAuthority: Sendable {
    /// The chain for JWS, with keys of P-384, P-384 and P-256.
    package let jws: AuthorityChain
    /// The chain for receipts, with RSA keys of 2048 bits.
    package let receipts: AuthorityChain
    /// The self-signed P-256 certificate for JWS, like Xcode's.
    package let xcodeJWS: IssuedCertificate
    /// The self-signed RSA certificate for receipts, like Xcode's.
    let xcodeReceipts: IssuedCertificate
}

extension TestAuthority {
    /// Creates an authority with random keys.
    ///
    /// - Parameter other: an authority from which to take the keys and certificates for receipts, because generating
    ///   RSA keys takes long. Nil to create new ones.
    package init(receiptsOf other: TestAuthority? = nil) throws {
        func p384() -> AuthorityKey { .p384(P384.Signing.PrivateKey()) }
        func rsa() throws -> AuthorityKey { .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)) }
        jws = try AuthorityChain(
            for: .jws, rootKey: p384(), intermediateKey: p384(), leafKey: .p256(P256.Signing.PrivateKey()))
        if let other {
            receipts = other.receipts
            xcodeReceipts = other.xcodeReceipts
        } else {
            receipts = try AuthorityChain(for: .receipt, rootKey: rsa(), intermediateKey: rsa(), leafKey: rsa())
            xcodeReceipts = try AuthorityRole.xcode.recipe(for: .receipt).issue(for: rsa(), by: nil)
        }
        xcodeJWS = try AuthorityRole.xcode.recipe(for: .jws).issue(for: .p256(P256.Signing.PrivateKey()), by: nil)
    }

    /// The anchors for production and sandbox artifacts: both roots.
    package var anchors: TrustAnchors {
        get throws(Rejection) { try TrustAnchors(der: [jws.root.der, receipts.root.der]) }
    }

    /// The anchors for Xcode's artifacts: both self-signed certificates.
    package var xcodeAnchors: TrustAnchors {
        get throws(Rejection) { try TrustAnchors(der: [xcodeJWS.der, xcodeReceipts.der]) }
    }

    /// Returns the chain for artifacts that are signed at `instant`. With a defect, a new chain is issued.
    package func chain(
        for purpose: ChainPurpose, defect: ChainDefect? = nil, signedAt instant: Date
    ) throws -> AuthorityChain {
        let valid = purpose == .jws ? jws : receipts
        guard let defect else { return valid }

        var rootRecipe = AuthorityRole.root.recipe(for: purpose)
        var intermediateRecipe = AuthorityRole.intermediate.recipe(for: purpose)
        var leafRecipe = AuthorityRole.leaf.recipe(for: purpose)
        var rootKey = valid.root.key
        var intermediate = valid.intermediate
        var leafKey = valid.leaf.key
        let year: TimeInterval = 366 * 86400
        switch defect {
        case .missingLeafMarker: leafRecipe.markers = []
        case .missingIntermediateMarker: intermediateRecipe.markers = []
        case .swappedMarkers: swap(&leafRecipe.markers, &intermediateRecipe.markers)
        case .criticalMarker: leafRecipe.markersAreCritical = true
        case .unknownCriticalExtension: leafRecipe.hasUnknownCriticalExtension = true
        case .namesakeRoot:
            // Generating an RSA key takes long, so use the existing RSA key of Xcode's certificate.
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
        case .leafAsIntermediate: intermediate = valid.leaf
        }
        let hasNewRoot = defect == .namesakeRoot || defect == .rootExpiredAtSigning
        let root = hasNewRoot ? try rootRecipe.issue(for: rootKey, by: nil) : valid.root
        let intermediateDefects: [ChainDefect] = [
            .missingIntermediateMarker, .swappedMarkers, .intermediateExpiredAtSigning, .intermediateNotAuthority,
        ]
        if hasNewRoot || intermediateDefects.contains(defect) {
            intermediate = try intermediateRecipe.issue(for: valid.intermediate.key, by: root)
        }
        let leaf = try leafRecipe.issue(for: leafKey, by: intermediate)
        return AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
    }

    // MARK: Directories

    // A test authority in a directory: the anchors for verifiers in `roots.pem` and `xcode.pem`, and each certificate
    // with its private key, which only the user who owns the file can read.

    /// The names of the files, each with its certificate.
    private static let names: [(String, any KeyPath<TestAuthority, IssuedCertificate> & Sendable)] = [
        ("jws-root", \.jws.root), ("jws-intermediate", \.jws.intermediate), ("jws-leaf", \.jws.leaf),
        ("receipt-root", \.receipts.root), ("receipt-intermediate", \.receipts.intermediate),
        ("receipt-leaf", \.receipts.leaf), ("xcode-jws", \.xcodeJWS), ("xcode-receipt", \.xcodeReceipts),
    ]

    /// Writes the authority into a directory, which is created if missing. Throws if the directory can't be written.
    package func save(to directory: URL) throws {
        let files = FileManager.default
        try files.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, path) in Self.names {
            let issued = self[keyPath: path]
            let key = directory.appendingPathComponent("\(name).key.pem")
            // Set the permissions when creating the file. Otherwise another user could open the file before the
            // permissions are set.
            try? files.removeItem(at: key)
            guard
                files.createFile(
                    atPath: key.path, contents: Data(issued.key.pem.utf8), attributes: [.posixPermissions: 0o600])
            else { throw MintingError("`\(key.path)` can't be written; check the folder and its permissions") }
            try write([issued], to: directory.appendingPathComponent("\(name).pem"))
        }
        try write([jws.root, receipts.root], to: directory.appendingPathComponent("roots.pem"))
        try write([xcodeJWS, xcodeReceipts], to: directory.appendingPathComponent("xcode.pem"))
    }

    /// Writes certificates in PEM.
    private func write(_ certificates: [IssuedCertificate], to file: URL) throws {
        let text = certificates.map { PEMDocument(type: "CERTIFICATE", derBytes: $0.der).pemString + "\n" }.joined()
        try Data(text.utf8).write(to: file)
    }

    /// Reads the authority in the directory, or creates one there. If several processes do this at the same time, they
    /// get the same authority. Throws if the directory can't be written, or has an incomplete authority.
    package init(readOrCreatedIn directory: URL) throws {
        let files = FileManager.default
        if !files.fileExists(atPath: directory.appendingPathComponent("roots.pem").path) {
            let new = directory.deletingLastPathComponent().appendingPathComponent(".authority-\(UUID().uuidString)")
            defer { try? files.removeItem(at: new) }
            try TestAuthority().save(to: new)
            // If another process was first, renaming fails, and that process's authority is read.
            _ = rename(new.path, directory.path)
        }
        try self.init(readFrom: directory)
    }

    /// Reads the authority that `save(to:)` wrote into the directory. Throws if it is missing or incomplete.
    package init(readFrom directory: URL) throws {
        func read(_ name: String) throws -> IssuedCertificate {
            let file = directory.appendingPathComponent("\(name).pem")
            let keyFile = directory.appendingPathComponent("\(name).key.pem")
            let anchors: TrustAnchors
            let key: AuthorityKey
            do {
                anchors = try TrustAnchors([UInt8](Data(contentsOf: file)))
                key = try AuthorityKey(pem: String(decoding: Data(contentsOf: keyFile), as: UTF8.self))
            } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                throw MintingError(
                    "`\(directory.path)` isn't a test authority (no `\(name).pem` with its key); make one with `tenure mint authority \(directory.path)`"
                )
            } catch is CocoaError {
                throw MintingError(
                    """
                    `\(directory.path)` is an incomplete test authority: `\(name).pem` or its key isn't a readable \
                    file; restore it, or replace the authority with `tenure mint authority --force \(directory.path)`
                    """)
            } catch {
                throw MintingError(
                    """
                    `\(directory.path)` is an incomplete test authority: `\(name)` can't be read (\(error)); restore \
                    it, or replace the authority with `tenure mint authority --force \(directory.path)`
                    """)
            }
            guard let certificate = anchors.certificates.first, certificate.x509.publicKey == key.publicKey else {
                throw MintingError(
                    """
                    the key of `\(name)` in `\(directory.path)` doesn't belong to its certificate; restore both \
                    files, or replace the authority with `tenure mint authority --force \(directory.path)`
                    """)
            }
            return IssuedCertificate(certificate: certificate, key: key)
        }
        func chain(_ name: String) throws -> AuthorityChain {
            AuthorityChain(
                root: try read("\(name)-root"), intermediate: try read("\(name)-intermediate"),
                leaf: try read("\(name)-leaf"))
        }
        self.init(
            jws: try chain("jws"), receipts: try chain("receipt"), xcodeJWS: try read("xcode-jws"),
            xcodeReceipts: try read("xcode-receipt"))
    }
}

extension AuthorityChain {
    /// Issues a valid chain for these keys.
    fileprivate init(
        for purpose: ChainPurpose, rootKey: AuthorityKey, intermediateKey: AuthorityKey, leafKey: AuthorityKey
    ) throws {
        root = try AuthorityRole.root.recipe(for: purpose).issue(for: rootKey, by: nil)
        intermediate = try AuthorityRole.intermediate.recipe(for: purpose).issue(for: intermediateKey, by: root)
        leaf = try AuthorityRole.leaf.recipe(for: purpose).issue(for: leafKey, by: intermediate)
    }
}

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

/// The defects of a chain, and one unusual but valid variant (`leafExpiredSince`). The root is the test authority's
/// own, unless the defect is in the root.
///
/// The raw values are names for `tenure mint --defect`, except `rootExpiredAtSigning`: only a verifier that trusts the
/// expired root rejects that chain as expired.
package enum ChainDefect: String, CaseIterable, Sendable, Hashable {
    /// Apple's markers (`AppleMarker`): the leaf or the intermediate has no marker, the two markers are swapped, or the
    /// leaf's marker is a critical extension.
    case missingLeafMarker, missingIntermediateMarker, swappedMarkers, criticalMarker
    /// The leaf has a critical extension that verifiers don't know.
    case unknownCriticalExtension
    /// The root is another one with the same name and another key, which verifiers don't trust.
    case namesakeRoot
    /// One of the certificates had expired a day before the signing date.
    case leafExpiredAtSigning, intermediateExpiredAtSigning, rootExpiredAtSigning
    /// The intermediate's basic constraints say that it may not issue certificates.
    case intermediateNotAuthority
    /// The test authority's leaf, which may not issue certificates, is used as the intermediate.
    case leafAsIntermediate
    /// The leaf's basic constraints say that it may issue certificates.
    case leafIsAuthority
    /// The leaf has a key of another algorithm: in the chain for JWS, P-384 instead of P-256; in the chain for
    /// receipts, P-256 instead of RSA.
    case foreignKey
    /// The leaf was valid at the signing date, and expired a minute later. Verifiers accept this chain.
    case leafExpiredSince
}
