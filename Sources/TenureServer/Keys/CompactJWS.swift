import Crypto
import TenureAPI
import TenureAppStore
import TenureCore

extension P256.Signing.PrivateKey {
    /// A compact JWS (RFC 7515) over a payload of JSON, signed with ES256.
    ///
    /// `keys`: statements by which older keys vouch for this one. Throws what the cryptography throws, and never because
    /// of the payload.
    func compactJWS(_ payload: [UInt8], type: String, keyID: String, keys: [String] = []) throws -> String {
        let signed = Self.header(type, keyID, keys) + "." + Base64URL.encode(payload)
        // RFC 7518, section 3.4: the two numbers, 32 bytes each.
        let signature = try signature(for: Array(signed.utf8))
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// The payload of a compact JWS that this key signed as that type; nil for any other text.
    ///
    /// The header must be the very one that `compactJWS` writes, so that nothing in it chooses how it is checked.
    func payload(of jws: String, type: String, keyID: String) -> [UInt8]? {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.header(type, keyID, []),
            let payload = Base64.urlSafe.decode(Array(parts[1].utf8)[...]),
            let bytes = Base64.urlSafe.decode(Array(parts[2].utf8)[...]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
            publicKey.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return payload
    }

    private static func header(_ type: String, _ keyID: String, _ keys: [String]) -> String {
        var header = JSONWriter()
        header.object { json in
            json.key("alg")
            json.value("ES256")
            json.key("kid")
            json.value(keyID)
            json.key("typ")
            json.value(type)
            if !keys.isEmpty {
                json.key("keys")
                json.array(keys) { $0.value($1) }
            }
        }
        return Base64URL.encode(header.bytes)
    }
}
