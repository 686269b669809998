import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import TenureAppStore
import TenureMint
import X509

/// The parts of a JWS that its floor needs: the signed bytes, the signature and the key.
struct SignedBytes {
    let bytes: [UInt8]
    let signature: P256.Signing.ECDSASignature
    let key: P256.Signing.PublicKey

    init(jws: [UInt8]) throws {
        let parts = jws.split(separator: UInt8(ascii: ".")).map { Array($0) }
        bytes = parts[0] + [UInt8(ascii: ".")] + parts[1]
        signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.decode(parts[2]))
        struct Header: Decodable { let x5c: [String] }
        let header = try JSONDecoder().decode(Header.self, from: Self.decode(parts[0]))
        let leaf = try Certificate(derEncoded: Array(Data(base64Encoded: header.x5c[0]) ?? Data()))
        guard let key = P256.Signing.PublicKey(leaf.publicKey) else {
            throw BenchmarkFailure("the leaf certificate has no P-256 key")
        }
        self.key = key
    }

    /// Uses a known key, so that the certificate in the header isn't parsed again for each of many JWSs.
    init(jws: [UInt8], signedBy key: P256.Signing.PublicKey) throws {
        guard let dot = jws.lastIndex(of: UInt8(ascii: ".")) else { throw BenchmarkFailure("a JWS has no dot") }
        bytes = Array(jws[..<dot])
        signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.decode(Array(jws[(dot + 1)...])))
        self.key = key
    }

    func hashAndVerify() {
        keep(key.isValidSignature(signature, for: SHA256.hash(data: bytes)))
    }

    func verify(_ digest: SHA256.Digest) {
        keep(key.isValidSignature(signature, for: digest))
    }

    private static func decode(_ segment: [UInt8]) -> Data {
        var text = String(decoding: segment, as: UTF8.self)
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        return Data(base64Encoded: text) ?? Data()
    }
}

/// One RSA-2048 verification, as receipts are signed.
struct RSAFloor {
    private let key: _RSA.Signing.PublicKey
    private let signature: _RSA.Signing.RSASignature
    private let digest = SHA256.hash(data: Data("the floor".utf8))

    init() throws {
        let privateKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        key = privateKey.publicKey
        signature = try privateKey.signature(for: digest, padding: .insecurePKCS1v1_5)
    }

    func verify() {
        keep(key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5))
    }
}
