import Crypto
import Foundation
import TenureAppStore
import TenureJSON

/// Signs many JWS with the same key and certificates. The header is encoded only once.
struct CorpusSigner: Sendable {
    /// The encoded header, with the period after it.
    private let header: [UInt8]
    private let key: P256.Signing.PrivateKey

    /// Encodes the header. Throws if the key isn't of the kind that signs JWS.
    init(certificates: [[UInt8]], key: AuthorityKey, algorithm: String = "ES256") throws {
        guard case .p256(let key) = key else { throw MintingError("the key that signs a JWS must be a P-256 key") }
        self.key = key
        var header = JSONObject()
        header["alg"] = .string(algorithm)
        header["x5c"] = .array(certificates.map { .string(Base64.standard.text($0)) })
        self.header = Base64.urlSafe.encode(JSONValue.object(header).bytes) + [UInt8(ascii: ".")]
    }

    /// Returns the JWS with this payload.
    func sign(_ payload: [UInt8]) throws -> [UInt8] {
        var text = header
        text.reserveCapacity(header.count + payload.count * 4 / 3 + 96)
        text += Base64.urlSafe.encode(payload)
        let signature = try key.signature(for: SHA256.hash(data: text)).rawRepresentation
        text.append(UInt8(ascii: "."))
        text += Base64.urlSafe.encode(signature)
        return text
    }
}

/// The signers of a corpus: one signer of valid artifacts, and signers of artifacts that verification rejects.
struct CorpusSigners: Sendable {
    let valid: CorpusSigner
    /// A signer with an expired certificate.
    let expired: CorpusSigner
    /// A signer under a root with the name of the trusted root and another key.
    let foreign: CorpusSigner
    /// A signer like Xcode, with one certificate.
    let xcode: CorpusSigner
    /// A signer that signs, but claims `alg: none` in the header.
    let claimsNoAlgorithm: CorpusSigner

    init(_ authority: TestAuthority, signedAt instant: Date) throws {
        func signer(_ chain: AuthorityChain, _ algorithm: String = "ES256") throws -> CorpusSigner {
            try CorpusSigner(certificates: chain.certificates, key: chain.leaf.key, algorithm: algorithm)
        }
        valid = try signer(authority.jws)
        expired = try signer(authority.chain(for: .jws, defect: .leafExpiredAtSigning, signedAt: instant))
        foreign = try signer(authority.chain(for: .jws, defect: .namesakeRoot, signedAt: instant))
        claimsNoAlgorithm = try signer(authority.jws, "none")
        xcode = try CorpusSigner(certificates: [authority.xcodeJWS.der], key: authority.xcodeJWS.key)
    }
}
