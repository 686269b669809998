import Crypto

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
