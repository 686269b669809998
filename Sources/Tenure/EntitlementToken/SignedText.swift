import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// A text in the form of a signed JSON Web Signature (compact JWS), not yet verified. Don't use its payload before
/// `isSigned(by:)` has returned true.
struct SignedText {
    let payload: [UInt8]
    private let headerBytes: [UInt8]
    /// The bytes that the signature covers: header and payload, as encoded in the text.
    private let signed: ArraySlice<UInt8>
    private let signature: [UInt8]

    /// The maximum size in bytes. No entitlement token is larger.
    static let maximumSize = 64 * 1024

    /// Splits a string into its parts. Nil if it isn't a compact JWS, or has more bytes than `maximumSize`.
    init?(_ text: String, maximumSize: Int = Self.maximumSize) {
        guard text.utf8.count <= maximumSize else { return nil }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.urlSafe.decode(parts[0]),
            let payload = Base64.urlSafe.decode(parts[1]), let signature = Base64.urlSafe.decode(parts[2]),
            signature.count == 64
        else { return nil }
        headerBytes = header
        self.payload = payload
        self.signature = signature
        signed = bytes[..<parts[1].endIndex]
    }

    /// Whether the header is exactly the header that a service writes for this type and key. No field is read from the
    /// header, so an attacker can't choose the algorithm or the key with it.
    func hasHeader(type: String, keyID: String) -> Bool {
        headerBytes
            == JSONWriter.object { json in
                json.field("alg", "ES256")
                json.field("kid", keyID)
                json.field("typ", type)
            }
    }

    /// Whether this key signed the header and the payload.
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: signed)
    }
}

/// A public key with its ID.
struct VerifyingKey: Sendable {
    let id: String
    let verifier: P256.Signing.PublicKey

    init?(_ key: Tenure.ServiceKey) {
        guard let verifier = key.verifier else { return nil }
        id = key.id
        self.verifier = verifier
    }

    /// Whether this key signed the text as a text of this type, which is one of `SignedType`.
    func hasSigned(_ text: SignedText, as type: String) -> Bool {
        text.hasHeader(type: type, keyID: id) && text.isSigned(by: verifier)
    }
}
