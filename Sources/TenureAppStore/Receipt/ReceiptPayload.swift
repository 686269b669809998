package import Crypto
public import Foundation

/// The contents of an app receipt: the attributes with a meaning here, and all attributes as encoded.
/// A text or date that the receipt leaves empty is nil, like a missing one. An unreadable value that a decision depends
/// on makes the receipt malformed.
public struct ReceiptPayload: Sendable, Hashable {
    /// Attribute 0 as written; `type` if it is a known one.
    public internal(set) var receiptType: String
    /// `CFBundleIdentifier` of the app.
    public internal(set) var bundleID: String
    /// 0 in Sandbox and Xcode.
    public internal(set) var appAppleID: UInt64?
    /// CFBundleVersion, on macOS CFBundleShortVersionString.
    public internal(set) var appVersion: String?
    /// When the App Store signed this receipt.
    public internal(set) var creationDate: Date?
    /// The same in all receipts of one purchase of the app; 0 in Sandbox.
    public internal(set) var downloadID: UInt64?
    /// Apple's number of the app version in App Store Connect; 0 in Sandbox.
    public internal(set) var versionExternalIdentifier: UInt64?
    /// When the account first got it; stable across restores and renewals.
    public internal(set) var originalPurchaseDate: Date?
    /// The version that was first acquired. Absent in Xcode, and in receipts from before June 20, 2013.
    public internal(set) var originalAppVersion: String?
    /// When the app was preordered.
    public internal(set) var preorderDate: Date?
    /// When a volume purchase ends. Xcode writes the year 4001.
    public internal(set) var expirationDate: Date?
    /// In the order of the receipt. An old receipt lists restored purchases again.
    public internal(set) var inAppPurchases: [InAppPurchase] = []

    /// Everything that was read, followed by octet strings that came in chunks.
    package let bytes: [UInt8]
    /// The range of the signed content in `bytes`.
    private let content: Range<Int>
    /// All attributes of the app's level, in the order of the receipt.
    package internal(set) var attributes: [RawReceiptAttribute] = []

    var opaqueValue: Range<Int>?
    var sha1Hash: Range<Int>?
    /// With tag and length.
    var encodedBundleID: Range<Int>?

    /// The product type in App Store Connect.
    public var type: ReceiptType? { ReceiptType(rawValue: receiptType) }

    init(receiptType: String, bundleID: String, bytes: [UInt8], content: Range<Int>) {
        self.receiptType = receiptType
        self.bundleID = bundleID
        self.bytes = bytes
        self.content = content
    }

    /// Only for reading attributes: it has no content.
    init(bytes: [UInt8]) {
        self.init(receiptType: "", bundleID: "", bytes: bytes, content: bytes.indices)
    }

    /// SHA-256 of the content octets, 32 bytes: the same for all spellings of one receipt. The unsigned container
    /// around the content can be written in many ways, so receipts are compared by this digest.
    package var digest: SHA256Digest { SHA256.hash(data: bytes[content]) }

    /// Whether the App Store made this receipt for the device with this identifier: the 16 bytes of the
    /// `identifierForVendor`, on macOS the 6 bytes of the primary interface's MAC address.
    /// False too if the receipt lacks what the hash needs.
    public func matches(deviceIdentifier: [UInt8]) -> Bool {
        guard let opaqueValue, let sha1Hash, let encodedBundleID, !deviceIdentifier.isEmpty else { return false }
        var hash = Insecure.SHA1()
        hash.update(data: deviceIdentifier)
        hash.update(data: bytes[opaqueValue])
        hash.update(data: bytes[encodedBundleID])
        // Crypto compares digests with bytes in constant time.
        return hash.finalize() == bytes[sha1Hash]
    }
}

/// One attribute of the receipt.
package struct RawReceiptAttribute: Sendable, Hashable {
    package let type: Int32
    /// The range of its value in the payload's bytes.
    package let value: Range<Int>
}
