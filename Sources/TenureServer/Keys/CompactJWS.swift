import Crypto
import Foundation
import TenureAPI
import TenureJSON

/// The first segment of a compact JWS, with the period after the segment. All tokens of one key and type have the same
/// first segment.
struct CompactHeader: Sendable {
    let text: [UInt8]

    /// Creates the header of tokens with this `typ`, signed by the key with this ID.
    init(type: String, keyID: String) {
        let header = JSONWriter.object { json in
            json.field("alg", "ES256")
            json.field("kid", keyID)
            json.field("typ", type)
        }
        text = Base64.urlSafe.encode(header) + [Self.period]
    }

    /// The character between the segments.
    static let period = UInt8(ascii: ".")
}

extension P256.Signing.PrivateKey {
    /// Returns a compact JWS (RFC 7515) over a payload of JSON, signed with ES256.
    ///
    /// Throws only if swift-crypto fails, never because of the payload.
    func compactJWS(_ payload: [UInt8], after header: CompactHeader) throws -> String {
        var text = header.text
        text.reserveCapacity(text.count + payload.count * 4 / 3 + 128)
        text += Base64.urlSafe.encode(payload)
        var hash = SHA256()
        text.withUnsafeBytes { hash.update(bufferPointer: $0) }
        // The signature is the two numbers R and S, 32 bytes each (RFC 7518, section 3.4).
        let signature = try signature(for: hash.finalize())
        text.append(CompactHeader.period)
        text += Base64.urlSafe.encode(signature.rawRepresentation)
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a compact JWS with this `typ` and this key's ID in the header.
    func compactJWS(_ payload: [UInt8], type: String) throws -> String {
        try compactJWS(payload, after: CompactHeader(type: type, keyID: publicKey.id))
    }
}

extension P256.Signing.PublicKey {
    /// Returns the payload of a compact JWS with this `typ` that this key signed; nil for any other text.
    ///
    /// The header must be exactly the one that `compactJWS` writes. So a token can't choose how it is verified.
    func payload(of jws: String, type: String, keyID: String) -> [UInt8]? {
        let parts = jws.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3,
            (parts[0] + ".").utf8.elementsEqual(CompactHeader(type: type, keyID: keyID).text),
            let payload = Base64.urlSafe.decode(Array(parts[1].utf8)[...]),
            let bytes = Base64.urlSafe.decode(Array(parts[2].utf8)[...]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
            isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return payload
    }

    /// Returns the payload of a signed statement about signing keys (`SignedType.keyStatement`, `rootStatement` or
    /// `revocations`). Nil if this key didn't sign the text with this `typ`, or if the text is larger than apps accept.
    func payload(ofStatement jws: String, type: String) -> Data? {
        let isList = type == SignedType.revocations
        let maximumSize = isList ? SigningKeyBounds.maximumRevocationsSize : SigningKeyBounds.maximumStatementSize
        guard jws.utf8.count <= maximumSize else { return nil }
        return payload(of: jws, type: type, keyID: id).map { Data($0) }
    }
}
