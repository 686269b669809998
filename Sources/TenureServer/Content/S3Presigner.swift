import Crypto
import Foundation
import TenureContent
import TenureCore
import TenureJSON

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
        // An IPv6 address is in brackets.
        var address = name.contains(":") ? "[\(name)]" : name
        if let port = endpoint.port, port != defaultPort { address += ":\(port)" }
        var folder = settings.prefix.isEmpty ? "/" : "/\(settings.prefix)/"
        switch settings.urlStyle {
        case .path:
            host = address
            folder = "/\(settings.bucket)\(folder)"
        case .virtualHost: host = "\(settings.bucket).\(address)"
        }
        path = folder.percentEncoded(keeping: "/")
    }

    /// Returns a URL for the published file with this digest, which is also the object's name.
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
        let parameters = query.map { name, value in "\(name)=\(value.percentEncoded())" }
        // `canonicalRequest`, `stringToSign` and `signingKey` are named as in the specification.
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
