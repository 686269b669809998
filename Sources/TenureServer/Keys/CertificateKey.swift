import Crypto
import TenureAPI

/// The key with which the service signs certificates (ES256). Apps pin its public half when they are built.
struct CertificateKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// RFC 7638: the thumbprint of the public key.
    let id: String

    static let fileName = "certificate-key.pem"

    /// Reads the key, or makes it on first start.
    init(folder: String) throws(ServiceError) {
        let file = SecretFile(path: "\(folder)/\(Self.fileName)")
        let contents = try file.contents { Array(P256.Signing.PrivateKey().pemRepresentation.utf8) }
        do {
            try self.init(P256.Signing.PrivateKey(pemRepresentation: String(decoding: contents, as: UTF8.self)))
        } catch {
            throw .keyFile(path: file.path, detail: "it holds no P-256 key in PEM; restore it from your backup")
        }
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        var members = JSONWriter()
        // RFC 7638, section 3.2: the required members only, in the order of their names.
        members.object { Self.write(key.publicKey, into: &$0) }
        id = Base64URL.encode(SHA256.hash(data: members.bytes))
    }

    private static func write(_ key: P256.Signing.PublicKey, into json: inout JSONWriter) {
        let coordinates = key.rawRepresentation
        json.key("crv")
        json.value("P-256")
        json.key("kty")
        json.value("EC")
        json.key("x")
        json.value(Base64URL.encode(coordinates.prefix(32)))
        json.key("y")
        json.value(Base64URL.encode(coordinates.suffix(32)))
    }

    /// A compact JWS over a payload of JSON.
    func sign(_ payload: [UInt8], type: String) throws -> String {
        try key.compactJWS(payload, type: type, keyID: id)
    }

    /// The payload of a compact JWS that this key signed as that type; nil for any other text.
    func payload(of jws: String, type: String) -> [UInt8]? { key.payload(of: jws, type: type, keyID: id) }

    /// RFC 7517: for diagnosis. An app that asked here for the key to trust would trust whoever answers.
    var jsonWebKeySet: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.key("keys")
            json.beginArray()
            json.object { json in
                Self.write(key.publicKey, into: &json)
                json.key("kid")
                json.value(id)
                json.key("alg")
                json.value("ES256")
                json.key("use")
                json.value("sig")
            }
            json.endArray()
        }
        return json.bytes
    }
}
