import Foundation
import TenureJSON

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// A payload that was signed with a policy signing key: a compact JWS (RFC 7515) with ES256. The payload is a policy or
/// a content catalog. All texts of a type have the same header. So a text can't choose how it is verified, and a text
/// of one type isn't accepted as another.
package struct SignedPayload: Sendable {
    /// The decoded payload.
    package let payload: [UInt8]
    /// The signed text, without a line break at its end.
    package let text: String

    /// The size of an ES256 signature in bytes.
    private static let signatureSize = 64

    /// Verifies an untrusted text.
    ///
    /// - Parameters:
    ///   - type: the `typ` that the header of the text must have, such as `tenure-policy+jwt`.
    ///   - keys: the public keys, one of which must verify the signature.
    ///   - maximumSize: the maximum size of the text in bytes.
    package init(
        _ text: some Collection<UInt8>, type: String, keys: [PinnedKey], maximumSize: Int
    ) throws(SignedPayloadError) {
        try self.init(text, type: type, maximumSize: maximumSize) { signature, signed in
            keys.contains { $0.publicKey.isValidSignature(signature, for: signed) }
        }
    }

    /// Reads a text without verifying its signature. A server does this with a text that its clients verify.
    package init(unverified text: some Collection<UInt8>, type: String, maximumSize: Int) throws(SignedPayloadError) {
        try self.init(text, type: type, maximumSize: maximumSize) { _, _ in true }
    }

    private init(
        _ text: some Collection<UInt8>, type: String, maximumSize: Int,
        isSigned: (P256.Signing.ECDSASignature, _ signed: ArraySlice<UInt8>) -> Bool
    ) throws(SignedPayloadError) {
        guard text.count <= maximumSize else { throw .tooLarge(bytes: text.count) }
        // Ignore a line break at the end, which editors and shells add.
        var bytes = Array(text)[...]
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes = bytes.dropLast() }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("it isn't a compact JWS, which has three parts") }
        guard Base64.urlSafe.decode(parts[0]) == Array(Self.header(type).utf8) else {
            throw .malformed("its header isn't `\(Self.header(type))`")
        }
        guard let signatureBytes = Base64.urlSafe.decode(parts[2]), signatureBytes.count == Self.signatureSize,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signatureBytes)
        else { throw .malformed("its signature can't be read") }
        let signed = bytes[..<parts[1].endIndex]
        guard isSigned(signature, signed) else { throw .wrongSignature }
        guard let payload = Base64.urlSafe.decode(parts[1]) else { throw .malformed("its payload can't be read") }
        self.payload = payload
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// Signs a payload and returns the text.
    package static func sign(
        _ payload: [UInt8], type: String, by key: P256.Signing.PrivateKey
    ) throws(SignedPayloadError) -> String {
        let signed = Base64.urlSafe.text(header(type).utf8) + "." + Base64.urlSafe.text(payload)
        guard let signature = try? key.signature(for: Data(signed.utf8)) else {
            throw .malformed("the private key can't sign; make a new one with `tenure policy signing-key`")
        }
        return signed + "." + Base64.urlSafe.text(signature.rawRepresentation)
    }

    /// Returns the header of all payloads of a type.
    private static func header(_ type: String) -> String { "{\"alg\":\"ES256\",\"typ\":\"\(type)\"}" }
}

/// Why a signed payload is rejected.
package enum SignedPayloadError: Error, Sendable, Hashable {
    /// The text is larger than allowed.
    case tooLarge(bytes: Int)
    /// The text isn't a compact JWS with the header of its type. The value says why, such as `its signature can't be
    /// read`.
    case malformed(String)
    /// None of the given public keys belongs to the key that signed the text.
    case wrongSignature
}
