import Crypto
import Foundation
import TenureContent
import TenureCore
import TenureJSON
import TenureStore

/// The contents of a download link: the file, the customer, the entitlement or product that unlocks the file, and the
/// link's expiry.
///
/// The link contains the entitlement or product, so that a customer can complete a download after a newer catalog has
/// dropped the pack.
struct ContentLink: Sendable, Hashable {
    /// The kind of the file: an asset pack's list of files, or the archive with all of them.
    enum File: UInt8, Sendable {
        case manifest, archive
    }

    let file: File
    /// The digest of the file, which is also its name.
    let digest: ContentDigest
    /// The name of the asset pack.
    let pack: String
    /// The entitlement or product that the pack needs.
    let unlock: ContentCatalog.Unlock
    /// The row ID of the customer for whom the link was made. The customer may have been merged into another since.
    let customer: Int64
    /// The authority that signed the customer's artifacts.
    let realm: Realm
    /// The row ID of the persona that replaces the customer; nil if there is no persona.
    let persona: Int64?
    /// The expiry, in whole seconds.
    let expiresAt: Date
}

extension ContentLink {
    private static let version: UInt8 = 1
    /// The size of the fixed-size fields: version, file, realm, customer, persona, expiry, digest, and the length of the
    /// pack's name.
    private static let fixedSize = 3 + 3 * 8 + ContentDigest.size + 1

    /// The bytes that the authentication code covers.
    var bytes: [UInt8] {
        var bytes: [UInt8] = [Self.version, file.rawValue, realm.code]
        for number in [customer, persona ?? 0, Int64(expiresAt.timeIntervalSince1970)] {
            bytes.append(bigEndian: number)
        }
        bytes += digest.bytes
        bytes.append(UInt8(clamping: pack.utf8.count))
        bytes += pack.utf8
        switch unlock {
        case .entitlement(let name): bytes += [0] + Array(name.utf8)
        case .product(let id): bytes += [1] + Array(id.utf8)
        }
        return bytes
    }

    /// Reads a link's bytes, after the caller has checked the authentication code. Nil if they have another form.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.fixedSize, bytes[0] == Self.version, let file = File(rawValue: bytes[1]),
            let realm = Realm(code: bytes[2]),
            let digest = ContentDigest(bytes[Self.fixedSize - 1 - ContentDigest.size..<Self.fixedSize - 1])
        else { return nil }
        let packEnd = Self.fixedSize + Int(bytes[Self.fixedSize - 1])
        guard packEnd < bytes.count, let pack = String(validating: bytes[Self.fixedSize..<packEnd], as: UTF8.self),
            let name = String(validating: bytes[(packEnd + 1)...], as: UTF8.self)
        else { return nil }
        switch bytes[packEnd] {
        case 0: unlock = .entitlement(name)
        case 1: unlock = .product(name)
        default: return nil
        }
        self.file = file
        self.digest = digest
        self.pack = pack
        self.realm = realm
        customer = bytes.number(at: 3)
        persona = bytes.number(at: 11) == 0 ? nil : bytes.number(at: 11)
        expiresAt = Date(timeIntervalSince1970: TimeInterval(bytes.number(at: 19)))
    }
}

/// Makes and checks the tokens of download links: HMAC-SHA256 with a key that depends on the service's secret and the
/// ID of the app's database. So a link of one app is invalid for all other apps.
struct ContentLinkKey: Sendable {
    private let code: MessageCode

    /// The longest token in characters. The names of packs, entitlements and products are far shorter.
    private static let maximumTokenLength = 4096

    /// Reads the secret in this folder of keys, or creates it.
    init(folder: String, databaseID: [UInt8]) throws(ServiceError) {
        code = try AccessTokenKey.messageCode(for: "tenure content link", folder: folder, databaseID: databaseID)
    }

    /// Returns the token of a download link.
    func token(of link: ContentLink) -> String { code.text(of: link.bytes) }

    /// Returns the link in a token that this service made, even if the link has expired; nil for any other token.
    func link(in token: some Collection<UInt8>) -> ContentLink? {
        guard token.count <= Self.maximumTokenLength, let bytes = code.bytes(in: Array(token)) else { return nil }
        return ContentLink(bytes.dropLast(SHA256.byteCount))
    }
}

/// Signs URLs for objects of a bucket with AWS Signature Version 4, in the query. Anyone with such a URL can download
/// the object until it expires.
///
/// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
struct S3Presigner: Sendable {
    private let accessKeyID: String
    private let secretAccessKey: Secret<String>
    private let sessionToken: Secret<String>?
    private let region: String
    private let scheme: String
    /// The host with its port, as in the `Host` header.
    private let host: String
    /// The encoded path before the object's name.
    private let path: String

    /// Reads the secrets.
    init(_ settings: S3Settings) throws(ServiceError) {
        func secret(in file: String, of setting: String) throws(ServiceError) -> Secret<String> {
            // The message doesn't contain the path: by mistake, an operator may have set the secret instead of a path.
            guard FileManager.default.fileExists(atPath: file) else {
                throw .content(
                    "the file in `\(setting)` doesn't exist; write the secret into a file of mode 600, and set its path"
                )
            }
            let text = String(decoding: try SecretFile(path: file).existingContents(), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else {
                throw .keyFile(path: file, detail: "the file is empty; write the secret into it")
            }
            return Secret(text)
        }
        guard let endpoint = settings.endpointURL, let name = endpoint.host else {
            throw .content(
                "`content.s3.endpoint` must be `https://` with a host and no path; found `\(settings.endpoint)`")
        }
        accessKeyID = settings.accessKeyID
        secretAccessKey = try secret(in: settings.secretAccessKeyFile, of: "content.s3.secretAccessKeyFile")
        sessionToken = try settings.sessionTokenFile.map { file throws(ServiceError) in
            try secret(in: file, of: "content.s3.sessionTokenFile")
        }
        region = settings.region
        scheme = endpoint.scheme ?? "https"
        let defaultPort = scheme == "https" ? 443 : 80
        let port = endpoint.port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? ""
        let address = (name.contains(":") ? "[\(name)]" : name) + port
        var folder = settings.prefix.isEmpty ? "/" : "/\(settings.prefix)/"
        switch settings.urlStyle {
        case .path:
            host = address
            folder = "/\(settings.bucket)\(folder)"
        case .virtualHost: host = "\(settings.bucket).\(address)"
        }
        path = folder.percentEncoded(keeping: "/")
    }

    /// Returns a URL for a published file, which is an object with its digest as its name.
    func url(of digest: ContentDigest, lifetime: TimeInterval, at now: Date) -> String {
        url(ofObject: digest.description, lifetime: Int(lifetime), at: now)
    }

    /// Returns a URL for the object with this name below the prefix. The URL is valid for `lifetime` seconds from `now`
    /// on.
    func url(ofObject name: String, lifetime: Int, at now: Date) -> String {
        let path = path + name.percentEncoded(keeping: "/")
        // Such as `20130524T000000Z`.
        let time = now.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        let scope = "\(time.prefix(8))/\(region)/s3/aws4_request"
        var query = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(accessKeyID)/\(scope)"),
            ("X-Amz-Date", time), ("X-Amz-Expires", "\(lifetime)"), ("X-Amz-SignedHeaders", "host"),
        ]
        if let sessionToken { query.append(("X-Amz-Security-Token", sessionToken.revealed)) }
        let parameters = query.map { "\($0.0)=\($0.1.percentEncoded())" }
        // These names are also the specification's.
        let canonicalRequest = [
            "GET", path, parameters.sorted().joined(separator: "&"), "host:\(host)", "", "host", "UNSIGNED-PAYLOAD",
        ].joined(separator: "\n")
        let digest = Array(SHA256.hash(data: Data(canonicalRequest.utf8))).hexadecimal
        let stringToSign = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
        var signingKey = Array("AWS4\(secretAccessKey.revealed)".utf8)
        for part in scope.split(separator: "/") { signingKey = Self.hmac(of: part, key: signingKey) }
        let signature = Self.hmac(of: stringToSign, key: signingKey).hexadecimal
        return "\(scheme)://\(host)\(path)?\(parameters.joined(separator: "&"))&X-Amz-Signature=\(signature)"
    }

    private static func hmac(of text: some StringProtocol, key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }
}

/// Makes links to a bucket, with secrets that can be replaced while the service runs.
final class S3Links: Sendable {
    private let current: Locked<S3Presigner>
    private let settings: S3Settings

    /// Reads the secrets.
    init(_ settings: S3Settings) throws(ServiceError) {
        self.settings = settings
        current = Locked(try S3Presigner(settings))
    }

    /// Signs links with the secrets that were read last.
    var presigner: S3Presigner { current.withLock { $0 } }

    /// Reloads the secrets. If the new secrets are invalid, the previous secrets stay in use.
    func reload() throws(ServiceError) {
        let fresh = try S3Presigner(settings)
        current.withLock { $0 = fresh }
    }
}
