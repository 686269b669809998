import Crypto
import Foundation
import TenureAPI
import TenureCore

/// The key with which the service signs certificates (ES256). Apps pin its public half when they are built.
struct CertificateKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// RFC 7638: the thumbprint of the public key.
    let id: String
    /// Carries what the key before this one says of it, so that apps that pinned that one believe this one too.
    private let certificateHeader: CompactHeader

    static let fileName = "certificate-key.pem"
    static let previousFileName = "certificate-key.previous.pem"
    /// The `typ` of such a statement: its payload is the newer key as a JSON Web Key.
    static let statementType = "tenure-key+jwt"

    /// Reads the key, and the one before it where there is one. `making`: makes it where there is none, which nobody may
    /// who has customers. Their apps trust the one that is missing, and would believe nothing that another one signs.
    init(folder: String, making: Bool) throws(ServiceError) {
        let file = Self.file(in: folder)
        guard making || file.exists else {
            throw .keyFile(
                path: file.path,
                detail: """
                    it is missing, and the record has customers, whose apps trust it; put it back from your backup, or, where no \
                    app trusts it yet, make another one: `openssl ecparam -name prime256v1 -genkey -noout -out \
                    \(file.path) && chmod 600 \(file.path)`
                    """)
        }
        key = try Self.key(
            in: try file.contents { Array(P256.Signing.PrivateKey().pemRepresentation.utf8) }, of: file)
        id = Self.id(of: key.publicKey)
        let previous = SecretFile(path: "\(folder)/\(Self.previousFileName)")
        guard previous.exists else {
            certificateHeader = CompactHeader(type: EntitlementToken.type, keyID: id)
            return
        }
        let signer = try Self.key(in: try previous.existingContents(), of: previous)
        do {
            let statement = try signer.compactJWS(
                Self.members(of: key.publicKey),
                after: CompactHeader(type: Self.statementType, keyID: Self.id(of: signer.publicKey)))
            certificateHeader = CompactHeader(type: EntitlementToken.type, keyID: id, keys: [statement])
        } catch {
            throw .keyFile(path: previous.path, detail: "it cannot sign")
        }
    }

    static func file(in folder: String) -> SecretFile { SecretFile(path: "\(folder)/\(fileName)") }

    private static func key(in contents: [UInt8], of file: SecretFile) throws(ServiceError) -> P256.Signing.PrivateKey {
        do {
            return try P256.Signing.PrivateKey(pemRepresentation: String(decoding: contents, as: UTF8.self))
        } catch {
            throw .keyFile(path: file.path, detail: "it holds no P-256 key in PEM; restore it from your backup")
        }
    }

    /// RFC 7638, section 3.2: the required members only, in the order of their names.
    private static func members(of key: P256.Signing.PublicKey) -> [UInt8] {
        var members = JSONWriter()
        members.object { write(key, into: &$0) }
        return members.bytes
    }

    private static func id(of key: P256.Signing.PublicKey) -> String {
        Base64.urlSafe.text(SHA256.hash(data: members(of: key)))
    }

    private static func write(_ key: P256.Signing.PublicKey, into json: inout JSONWriter) {
        let coordinates = key.rawRepresentation
        json.key("crv")
        json.value("P-256")
        json.key("kty")
        json.value("EC")
        json.key("x")
        json.value(Base64.urlSafe.text(coordinates.prefix(32)))
        json.key("y")
        json.value(Base64.urlSafe.text(coordinates.suffix(32)))
    }

    /// A compact JWS over a payload of JSON. Certificates alone carry what older keys say: only apps read those, which
    /// may have pinned one.
    func sign(_ payload: [UInt8], type: String) throws -> String {
        try key.compactJWS(
            payload, after: type == EntitlementToken.type ? certificateHeader : CompactHeader(type: type, keyID: id))
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
