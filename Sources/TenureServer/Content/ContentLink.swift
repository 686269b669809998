import Foundation
import TenureContent
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

    /// The bytes of the link, to which `ContentLinkKey` adds an authentication code.
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

    /// Reads a link's bytes, after the caller has checked the authentication code. Nil if the bytes have another form.
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
