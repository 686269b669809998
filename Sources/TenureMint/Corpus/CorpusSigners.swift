import Foundation
import TenureAppStore

/// The signers of a corpus: one signer of valid artifacts, and signers of artifacts that verification rejects. Each is a
/// draft without a payload.
struct CorpusSigners: Sendable {
    let valid: JWSDraft
    /// A signer with an expired certificate.
    let expired: JWSDraft
    /// A signer under another root with the same name.
    let foreign: JWSDraft
    /// A signer like Xcode, with one certificate.
    let xcode: JWSDraft
    /// A signer that signs, but claims `alg: none` in the header.
    let claimsNoAlgorithm: JWSDraft

    init(_ authority: TestAuthority, signedAt instant: Date) throws {
        func signer(_ chain: AuthorityChain, _ algorithm: String = "ES256") -> JWSDraft {
            JWSDraft(certificates: chain.certificates, algorithm: algorithm, key: chain.leaf.key)
        }
        valid = signer(authority.jws)
        expired = signer(try authority.chain(for: .jws, defect: .leafExpiredAtSigning, signedAt: instant))
        foreign = signer(try authority.chain(for: .jws, defect: .namesakeRoot, signedAt: instant))
        claimsNoAlgorithm = signer(authority.jws, "none")
        xcode = JWSDraft(certificates: [authority.xcodeJWS.der], key: authority.xcodeJWS.key)
    }
}

extension JWSDraft {
    /// Returns a JWS like this one, with another payload.
    func sign(_ payload: [UInt8]) throws -> [UInt8] {
        var draft = self
        draft.payload = payload
        return try draft.sign()
    }
}
