package import Crypto
public import Foundation

/// What an app receipt says: the attributes that have a meaning here, read, and all of them as they came.
///
/// A text or date that the receipt leaves empty is nil, as one that it does not have. A value that cannot be read
/// never gets this far where a decision hangs on it.
public struct ReceiptPayload: Sendable, Hashable {
    /// Attribute 0 as it stands there; `type` where it is a known one.
    public internal(set) var receiptType: String
    public internal(set) var bundleID: String
    /// 0 in Sandbox and Xcode.
    public internal(set) var appAppleID: UInt64?
    /// CFBundleVersion, on macOS CFBundleShortVersionString.
    public internal(set) var appVersion: String?
    /// When the App Store signed this receipt.
    public internal(set) var creationDate: Date?
    /// The same in all receipts of one purchase of the app; 0 in Sandbox.
    public internal(set) var downloadID: UInt64?
    public internal(set) var versionExternalIdentifier: UInt64?
    public internal(set) var originalPurchaseDate: Date?
    /// The version that was first acquired. Absent in Xcode, and in receipts from before 20 June 2013.
    public internal(set) var originalAppVersion: String?
    public internal(set) var preorderDate: Date?
    /// When a volume purchase ends. Xcode writes the year 4001.
    public internal(set) var expirationDate: Date?
    public internal(set) var inAppPurchases: [InAppPurchase] = []

    /// All that was read, and behind it octet strings that came in chunks.
    package let bytes: [UInt8]
    /// Where the signed content lies in `bytes`.
    private let content: Range<Int>
    /// All attributes of the app's level, in the order of the receipt.
    package internal(set) var attributes: [RawReceiptAttribute] = []

    var opaqueValue: Range<Int>?
    var sha1Hash: Range<Int>?
    /// With tag and length.
    var encodedBundleID: Range<Int>?

    public var type: ReceiptType? { ReceiptType(rawValue: receiptType) }

    init(receiptType: String, bundleID: String, bytes: [UInt8], content: Range<Int>) {
        self.receiptType = receiptType
        self.bundleID = bundleID
        self.bytes = bytes
        self.content = content
    }

    /// Only to read attributes in: it says nothing.
    init(bytes: [UInt8]) {
        self.init(receiptType: "", bundleID: "", bytes: bytes, content: bytes.indices)
    }

    /// SHA-256 of the content octets, 32 bytes: the same for all spellings of one receipt. The container around the
    /// content can be written in many ways without its signer, so receipts are compared by this and not by their bytes.
    package var digest: SHA256Digest { SHA256.hash(data: bytes[content]) }

    /// Whether the App Store made this receipt for the device with this identifier: the 16 bytes of the
    /// `identifierForVendor`, on macOS the 6 bytes of the primary interface's MAC address.
    ///
    /// False also where the receipt lacks what the hash needs.
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

/// One attribute as it lies in the receipt.
package struct RawReceiptAttribute: Sendable, Hashable {
    package let type: Int32
    /// Where its value lies in the payload's bytes.
    package let value: Range<Int>
}
