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
    /// The size of the fixed-size fields: version, file, realm, customer, persona, expiry, digest, and the length of
    /// the pack's name.
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
