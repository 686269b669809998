import Crypto
import TenureCore
import TenureJSON

/// Makes and checks the tokens of download links: HMAC-SHA256 with a key that depends on the service's secret and the
/// app's database. So a link of one app is invalid in another.
struct ContentLinkKey: Sendable {
    private let code: MessageCode

    /// The longest token in characters. The names of packs, entitlements and products are far shorter.
    private static let longestToken = 4096

    init(folder: String, databaseID: [UInt8]) throws(ServiceError) {
        code = try AccessTokenKey.code(for: "tenure content link", folder: folder, databaseID: databaseID)
    }

    func token(of link: ContentLink) -> String {
        var bytes = link.bytes
        let digest = bytes.withUnsafeBytes { code.code(of: $0) }
        digest.withUnsafeBytes { bytes += $0 }
        return Base64.urlSafe.text(bytes)
    }

    /// The link in a token that this service made; nil for any other. It may have expired.
    func link(in token: some Collection<UInt8>) -> ContentLink? {
        guard token.count <= Self.longestToken, let bytes = Base64.urlSafe.decode(Array(token)[...]),
            bytes.count > SHA256.byteCount
        else { return nil }
        let end = bytes.count - SHA256.byteCount
        let isOurs = bytes.withUnsafeBytes { bytes in
            code.isValid(.init(rebasing: bytes[end...]), of: .init(rebasing: bytes[..<end]))
        }
        return isOurs ? ContentLink(Array(bytes[..<end])) : nil
    }
}
