import Crypto
import TenureAPI

extension P256.Signing.PrivateKey {
    /// A compact JWS (RFC 7515) over a payload of JSON, signed with ES256.
    ///
    /// `keys`: statements by which older keys vouch for this one. Throws what the cryptography throws, and never because
    /// of the payload.
    func compactJWS(_ payload: [UInt8], type: String, keyID: String, keys: [String] = []) throws -> String {
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
        let signed = Base64URL.encode(header.bytes) + "." + Base64URL.encode(payload)
        // RFC 7518, section 3.4: the two numbers, 32 bytes each.
        let signature = try signature(for: Array(signed.utf8))
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }
}
