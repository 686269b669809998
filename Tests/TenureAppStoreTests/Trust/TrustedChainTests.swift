import Crypto
import ExpectedRejections
import Foundation
import TenureMint
import Testing
import X509

@testable import TenureAppStore

@Suite struct TrustedChainTests {
    private func validate(
        _ chain: AuthorityChain,
        anchors: TrustAnchors? = nil,
        purpose: ChainPurpose
    ) throws -> TrustedChain {
        try trustedChain(
            leaf: chain.leaf.der,
            intermediate: chain.intermediate.der,
            anchors: try anchors ?? Minted.authority.anchors,
            purpose: purpose
        )
    }

    @Test(arguments: [ChainPurpose.jws, .receipt])
    func `a certificate chain of signer, intermediate and root is trusted`(purpose: ChainPurpose) throws {
        let chain = try Minted.authority.chain(for: purpose, signedAt: Minted.instant)
        let trusted = try validate(chain, purpose: purpose)
        #expect(trusted.certificates.count == 3)
        #expect(trusted.anchor == chain.root.der)
        #expect(trusted.isValid(at: Minted.instant))
        #expect(!trusted.isLocal)
    }

    @Test func `a certificate with unused bits in its signature is malformed`() throws {
        // A signature of RSA-2048 has 256 octets. The octet before them has the number of unused bits.
        var der = Minted.authority.receipts.leaf.der
        der[der.count - 1] = 0
        #expect(throws: Never.self) { try ParsedCertificate(der: der) }
        try #require(der[der.count - 257] == 0)
        der[der.count - 257] = 4
        #expect(rejection { try ParsedCertificate(der: der) }?.code == .malformed)
    }

    @Test func `a certificate that names two algorithms for its signature is malformed`() throws {
        // ecdsa-with-SHA256 and ecdsa-with-SHA384 differ in the last byte.
        let prefix: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03]
        let der = Minted.authority.jws.leaf.der
        let places = der.ranges(of: prefix).map(\.upperBound)
        try #require(places.count == 2)
        for place in places {
            var edited = der
            edited[place] = der[place] == 2 ? 3 : 2
            let found = rejection { try ParsedCertificate(der: edited) }
            #expect(found?.code == .malformed)
            #expect(found?.detail == "a certificate names two different algorithms for its signature")
        }
        var both = der
        for place in places { both[place] = der[place] == 2 ? 3 : 2 }
        #expect(throws: Never.self) { try ParsedCertificate(der: both) }
    }

    @Test(arguments: [ChainPurpose.jws, .receipt], ChainDefect.allCases)
    func `a certificate chain with a defect is rejected with its code, and one that expired after signing is accepted`(
        purpose: ChainPurpose, defect: ChainDefect
    ) throws {
        let chain = try Minted.authority.chain(for: purpose, defect: defect, signedAt: Minted.instant)
        let anchors = try TrustAnchors(der: [
            defect == .rootExpiredAtSigning
                ? chain.root.der : (purpose == .jws ? Minted.authority.jws : Minted.authority.receipts).root.der
        ])
        let verdict = Result {
            try validate(chain, anchors: anchors, purpose: purpose).checkValidity(at: Minted.instant)
        }
        switch defect.rejection {
        case nil: #expect(throws: Never.self) { try verdict.get() }
        case let code?: #expect(rejection { try verdict.get() }?.code == code)
        }
    }

    @Test func `certificate chains with SHA-1 are accepted for receipts, and refused for JWS`() throws {
        let chain = try Minted.authority.receiptChainWithSHA1()
        let anchors = try TrustAnchors(der: [chain.root.der])
        #expect(throws: Never.self) { try validate(chain, anchors: anchors, purpose: .receipt) }
        #expect(rejection { try validate(chain, anchors: anchors, purpose: .jws) }?.code == .unsupportedAlgorithm)
    }

    @Test func `an RSA certificate can't sign a JWS, and a P-256 certificate can't sign a receipt`() throws {
        let authority = Minted.authority
        #expect(rejection { try validate(authority.receipts, purpose: .jws) }?.code == .unsupportedAlgorithm)
        #expect(rejection { try validate(authority.jws, purpose: .receipt) }?.code == .unsupportedAlgorithm)
    }

    @Test func `a certificate that is empty, cut short or followed by extra bytes is refused`() throws {
        let chain = Minted.authority.jws
        for (leaf, intermediate) in [
            (chain.leaf.der + [0], chain.intermediate.der), (chain.leaf.der, chain.intermediate.der + [0]),
            ([], chain.intermediate.der), (chain.leaf.der, Array(chain.intermediate.der.dropLast())),
        ] {
            let found = rejection {
                try trustedChain(
                    leaf: leaf, intermediate: intermediate, anchors: Minted.authority.anchors, purpose: .jws)
            }
            #expect(found?.code == .malformed)
        }
    }

    @Test(arguments: [ChainPurpose.jws, .receipt])
    func `an intermediate certificate is refused if the root's path length is 0, or if it may not sign certificates`(
        purpose: ChainPurpose
    ) throws {
        let sound = purpose == .jws ? Minted.authority.jws : Minted.authority.receipts
        func code(pathLength: Int?, signsCertificates: Bool) throws -> Rejection.Code? {
            var rootRecipe = AuthorityRole.root.recipe(for: purpose)
            rootRecipe.basicConstraints = .isCertificateAuthority(maxPathLength: pathLength)
            var intermediateRecipe = AuthorityRole.intermediate.recipe(for: purpose)
            intermediateRecipe.signsCertificates = signsCertificates
            let root = try rootRecipe.issue(for: sound.root.key, by: nil)
            let intermediate = try intermediateRecipe.issue(for: sound.intermediate.key, by: root)
            let leaf = try AuthorityRole.leaf.recipe(for: purpose).issue(for: sound.leaf.key, by: intermediate)
            let anchors = try TrustAnchors(der: [root.der])
            do throws(Rejection) {
                _ = try trustedChain(
                    leaf: leaf.der, intermediate: intermediate.der, anchors: anchors, purpose: purpose)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try code(pathLength: nil, signsCertificates: true) == nil)
        #expect(try code(pathLength: 1, signsCertificates: true) == nil)
        #expect(try code(pathLength: 0, signsCertificates: true) == .untrustedChain)
        #expect(try code(pathLength: nil, signsCertificates: false) == .untrustedChain)
    }

    @Test(arguments: [ChainPurpose.jws, .receipt])
    func `a certificate that may only sign certificates can't sign artifacts`(purpose: ChainPurpose) throws {
        let sound = purpose == .jws ? Minted.authority.jws : Minted.authority.receipts
        var recipe = AuthorityRole.leaf.recipe(for: purpose)
        #expect(!recipe.signsCertificates)
        recipe.signsCertificates = true
        let leaf = try recipe.issue(for: sound.leaf.key, by: sound.intermediate)
        let found = rejection {
            try trustedChain(
                leaf: leaf.der, intermediate: sound.intermediate.der, anchors: Minted.authority.anchors,
                purpose: purpose)
        }
        #expect(found?.code == .wrongPurpose)
    }

    @Test func `a root certificate in place of an intermediate is rejected`() throws {
        let chain = Minted.authority.jws
        let found = rejection {
            try trustedChain(
                leaf: chain.leaf.der, intermediate: chain.root.der, anchors: Minted.authority.anchors, purpose: .jws)
        }
        #expect(found?.code == .untrustedChain)
    }

    @Test func `a test authority's certificate chains aren't trusted under Apple's roots`() {
        #expect(
            rejection { try validate(Minted.authority.jws, anchors: .apple, purpose: .jws) }?.code == .untrustedChain)
        #expect(
            rejection { try validate(Minted.authority.receipts, anchors: .apple, purpose: .receipt) }?.code
                == .untrustedChain)
    }

    @Test func `a signer's certificate with any byte changed is refused`() throws {
        let chain = Minted.authority.jws
        for index in stride(from: 0, to: chain.leaf.der.count, by: 7) {
            var leaf = chain.leaf.der
            leaf[index] ^= 0x01
            #expect(throws: Rejection.self, "byte \(index)") {
                try trustedChain(
                    leaf: leaf, intermediate: chain.intermediate.der, anchors: Minted.authority.anchors, purpose: .jws)
            }
        }
    }

    @Test func `a certificate chain is valid while all three certificates are valid`() throws {
        let chain = try Minted.authority.chain(for: .jws, defect: .leafExpiredSince, signedAt: Minted.instant)
        let trusted = try validate(chain, purpose: .jws)
        #expect(trusted.notAfter == Minted.instant.addingTimeInterval(60))
        #expect(trusted.isValid(at: trusted.notAfter) && trusted.isValid(at: trusted.notBefore))
        #expect(!trusted.isValid(at: trusted.notAfter.addingTimeInterval(1)))
        #expect(!trusted.isValid(at: trusted.notBefore.addingTimeInterval(-1)))
        // The signer's certificate begins later than the two above it.
        let beginnings = trusted.certificates.map(\.notBefore)
        #expect(trusted.notBefore == beginnings.max() && beginnings.max() != beginnings.min())
    }

    @Test func `Xcode's certificate is trusted only if exactly this certificate is configured`() throws {
        let authority = Minted.authority
        let local = try locallyTrusted(
            certificate: authority.xcodeJWS.der, anchors: authority.xcodeAnchors, purpose: .jws)
        #expect(local.isLocal && local.certificates.count == 1)
        // Xcode's certificate from another developer's Mac.
        let other = try AuthorityRole.xcode.recipe(for: .jws).issue(for: .p256(P256.Signing.PrivateKey()), by: nil).der
        #expect(
            rejection { try locallyTrusted(certificate: other, anchors: authority.xcodeAnchors, purpose: .jws) }?.code
                == .untrustedChain)
    }
}

/// Parses the certificates of a chain, and checks the whole chain.
private func trustedChain(
    leaf: [UInt8], intermediate: [UInt8], anchors: TrustAnchors, purpose: ChainPurpose
) throws(Rejection) -> TrustedChain {
    let leaf = try ParsedCertificate(der: leaf)
    let intermediate = try ParsedCertificate(der: intermediate)
    let anchor = try intermediate.anchor(among: anchors, purpose: purpose)
    return try trustedChain(leaf: leaf, intermediate: intermediate, anchor: anchor, purpose: purpose)
}
