import Foundation

/// The bucket with the published files, at AWS or another service with the S3 API.
public struct S3Settings: Sendable, Hashable {
    /// The position of the bucket's name in a URL.
    public enum URLStyle: String, Sendable, Hashable, CaseIterable {
        /// `https://endpoint/bucket/key`
        case path
        /// `https://bucket.endpoint/key`
        case virtualHost = "virtual-host"
    }

    /// The URL of the S3 service, `https://host`, with a port if necessary. Empty for the endpoint of AWS in the
    /// region.
    public var endpoint = ""
    /// The region for signatures, such as `eu-central-1`.
    public var region: String
    /// The bucket with the published files, such as `calculator-packs`. The service signs download links to its
    /// objects, and writes nothing.
    public var bucket: String
    /// The prefix of the objects' names, without the slash after it. May be empty.
    public var prefix = ""
    /// The ID of the access key that signs download links.
    public var accessKeyID: String
    /// The path of the file with the access key's secret. The service reads it again on SIGHUP.
    public var secretAccessKeyFile: String
    /// The path of a file with the session token of temporary credentials; nil for a permanent access key.
    public var sessionTokenFile: String?
    /// The position of the bucket's name in download links.
    public var urlStyle = URLStyle.path

    /// The longest lifetime of a presigned URL, in seconds.
    static let maximumLifetime: TimeInterval = 7 * 86_400

    /// Creates settings for a bucket at AWS. Set `endpoint` for another service.
    public init(region: String, bucket: String, accessKeyID: String, secretAccessKeyFile: String) {
        self.region = region
        self.bucket = bucket
        self.accessKeyID = accessKeyID
        self.secretAccessKeyFile = secretAccessKeyFile
    }

    /// The scheme, host and port of the S3 service; nil if `endpoint` or `region` makes no valid URL. Beyond loopback,
    /// only `https` is valid.
    var endpointURL: URL? {
        let text = endpoint.isEmpty ? "https://s3.\(region).amazonaws.com" : endpoint
        guard let url = URL(string: text), let host = url.host, !host.isEmpty, url.user == nil, url.query == nil,
            url.fragment == nil, url.path.isEmpty || url.path == "/"
        else { return nil }
        let isAllowed = url.scheme == "https" || (url.scheme == "http" && ServiceConfiguration.isLoopback(host))
        return isAllowed ? url : nil
    }

    /// The mistakes that can be found without reading a file.
    var mistakes: [String] {
        let required: [(name: String, value: String, meaning: String)] = [
            ("region", region, "the bucket's region, such as `eu-central-1`"),
            ("bucket", bucket, "the name of the bucket with the published files"),
            ("accessKeyID", accessKeyID, "the ID of a key that may read the bucket"),
            ("secretAccessKeyFile", secretAccessKeyFile, "a file with the secret of the access key, mode 600"),
        ]
        var mistakes = required.filter { $0.value.isEmpty }.map {
            "`content.s3.\($0.name)` is missing; set it to \($0.meaning)"
        }
        if !region.isEmpty, !region.utf8.allSatisfy(Self.isNamePart) {
            mistakes.append("`content.s3.region` must have only letters, digits, `-`, `.` and `_`; found `\(region)`")
        }
        if !bucket.isEmpty, !bucket.utf8.allSatisfy(Self.isNamePart) {
            mistakes.append("`content.s3.bucket` must have only letters, digits, `-`, `.` and `_`; found `\(bucket)`")
        }
        if prefix.hasPrefix("/") || prefix.hasSuffix("/") {
            mistakes.append("`content.s3.prefix` must not begin or end with a slash; found `\(prefix)`")
        }
        if endpointURL == nil {
            mistakes.append("`content.s3.endpoint` must be `https://` with a host and no path; found `\(endpoint)`")
        }
        return mistakes
    }

    private static func isNamePart(_ byte: UInt8) -> Bool { byte.isUnreserved && byte != UInt8(ascii: "~") }
}
