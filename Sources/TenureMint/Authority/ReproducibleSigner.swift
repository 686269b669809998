import Crypto
import Foundation
import SwiftASN1
import X509

/// Signs certificates with ECDSA so that the same key and certificate give the same signature. The one-time number is
/// derived from the key and the message, as in RFC 6979, which swift-crypto doesn't support. For test keys only.
struct ReproducibleSigner: CustomPrivateKey {
    let key: AuthorityKey

    static func == (left: Self, right: Self) -> Bool { left.key.publicKey == right.key.publicKey }
    func hash(into hasher: inout Hasher) { hasher.combine(key.publicKey) }

    var publicKey: Certificate.PublicKey { key.publicKey }

    var defaultSignatureAlgorithm: Certificate.SignatureAlgorithm {
        if case .p256 = key { .ecdsaWithSHA256 } else { .ecdsaWithSHA384 }
    }

    var supportedSignatureAlgorithms: [Certificate.SignatureAlgorithm] { [defaultSignatureAlgorithm] }

    static var defaultPEMDiscriminator: String { "PRIVATE KEY" }

    func serialize(into coder: inout DER.Serializer) throws {
        coder.serializeRawBytes(try PEMDocument(pemString: key.pem).derBytes)
    }

    func signSynchronously(
        bytes: some DataProtocol,
        signatureAlgorithm: Certificate.SignatureAlgorithm
    ) throws -> Certificate.Signature {
        guard signatureAlgorithm == defaultSignatureAlgorithm else {
            throw MintingError("an authority signs with \(defaultSignatureAlgorithm)")
        }
        let der: Data
        switch key {
        case .p256(let key):
            let raw = try Self.sign(
                digest: Array(SHA256.hash(data: bytes)), scalar: Array(key.rawRepresentation), in: .p256
            ) { try Array(P256.Signing.PrivateKey(rawRepresentation: $0).publicKey.rawRepresentation.prefix(32)) }
            der = try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
        case .p384(let key):
            let raw = try Self.sign(
                digest: Array(SHA384.hash(data: bytes)), scalar: Array(key.rawRepresentation), in: .p384
            ) { try Array(P384.Signing.PrivateKey(rawRepresentation: $0).publicKey.rawRepresentation.prefix(48)) }
            der = try P384.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
        case .rsa: throw MintingError("an RSA key signs by itself")
        }
        return try Certificate.Signature(
            signatureAlgorithm: signatureAlgorithm,
            signatureBytes: ASN1BitString(bytes: Array(der)[...])
        )
    }

    /// FIPS 186-5, section 6.4.1. `x` is the x-coordinate of the generator times a scalar.
    private static func sign(
        digest: [UInt8],
        scalar: [UInt8],
        in field: ScalarField,
        x: ([UInt8]) throws -> [UInt8]
    ) throws -> [UInt8] {
        for attempt in 0..<UInt8(16) {
            let nonce = Array(
                HMAC<SHA512>.authenticationCode(for: digest + [attempt], using: SymmetricKey(data: scalar))
            ).prefix(scalar.count)
            // A number above the order of the curve isn't a scalar: the next one is tried.
            guard let coordinate = try? x(Array(nonce)) else { continue }
            let k = field.reduced(Array(nonce))
            let r = field.reduced(coordinate)
            let sum = field.add(field.reduced(digest), field.multiply(r, field.reduced(scalar)))
            let s = field.multiply(field.inverse(of: k), sum)
            if !field.isZero(r), !field.isZero(s) { return field.bytes(r) + field.bytes(s) }
        }
        throw MintingError("no one-time number can be derived from this message")
    }
}
