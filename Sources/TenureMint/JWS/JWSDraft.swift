import Crypto
import TenureCore
import TenureJSON

/// An unfinished JWS. Each part can be corrupted before or after it is signed.
struct JWSDraft {
    var payload: [UInt8]
    /// The certificates in DER, which are written as `x5c`.
    var certificates: [[UInt8]]
    /// The texts of `x5c`, if they differ from `certificates`.
    var x5c: [String]?
    /// The `alg` of the header; nil to leave it out.
    var algorithm: String? = "ES256"
    /// Whether the header has `x5c`.
    var showsCertificates = true
    /// Additional members of the header, which are written last.
    var headerMembers: [JSONObject.Member] = []
    /// The key that signs the draft.
    var key: AuthorityKey
    /// Creates another signature instead of the valid signature.
    var makeSignature: (@Sendable ([UInt8]) throws -> [UInt8])?
    /// Changes the finished text.
    var finish: (@Sendable ([UInt8]) throws -> [UInt8])?

    init(minter: JWSMinter, payload: JSONObject) throws {
        self.payload = JSONValue.object(payload).bytes
        if minter.app.environment == .xcode {
            // Use the same header as Xcode.
            certificates = [minter.authority.xcodeJWS.der]
            key = minter.authority.xcodeJWS.key
            headerMembers = [
                .init(name: "kid", value: .string("Apple_Xcode_Key")), .init(name: "typ", value: .string("JWT")),
            ]
        } else {
            certificates = minter.authority.jws.certificates
            key = minter.authority.jws.leaf.key
        }
    }

    /// Encodes and signs the draft.
    func sign() throws -> [UInt8] {
        var header = JSONObject()
        header["alg"] = algorithm.map(JSONValue.string)
        if showsCertificates {
            let entries = x5c ?? certificates.map { Base64.standard.text($0) }
            header["x5c"] = .array(entries.map(JSONValue.string))
        }
        header.members += headerMembers
        let dot = [UInt8(ascii: ".")]
        let signed = Base64.urlSafe.encode(JSONValue.object(header).bytes) + dot + Base64.urlSafe.encode(payload)
        let signature = try makeSignature?(signed) ?? key.rawSignature(of: signed)
        let text = signed + dot + Base64.urlSafe.encode(signature)
        return try finish?(text) ?? text
    }
}

extension AuthorityKey {
    /// Returns the signature in the format of JWS (RFC 7518, section 3.4): two numbers, without DER.
    func rawSignature(of bytes: [UInt8]) throws -> [UInt8] {
        switch self {
        case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation)
        case .p384(let key): return Array(try key.signature(for: SHA384.hash(data: bytes)).rawRepresentation)
        case .rsa: throw MintingError("an RSA key can't sign a JWS; use a P-256 or P-384 key")
        }
    }
}
