import Crypto
public import Foundation
public import TenureCore

/// The contents of an app receipt: the attributes that Tenure uses, and all attributes as encoded. An attribute is a
/// numbered value (`ReceiptAttribute`).
///
/// An empty string or date is nil, like a missing string or date. If a value on which a decision depends is unreadable,
/// the receipt is malformed.
public struct ReceiptPayload: Sendable, Hashable {
    /// The type of receipt as written (attribute 0). `type` has it as an enumeration.
    public internal(set) var receiptType: String = ""
    /// `CFBundleIdentifier` of the app.
    public internal(set) var bundleID = ""
    /// The app's Apple ID (adam ID), which is 0 in Sandbox and Xcode.
    public internal(set) var appAppleID: UInt64?
    /// The version of the app that requested the receipt: CFBundleVersion, on macOS CFBundleShortVersionString.
    public internal(set) var appVersion: String?
    /// When the App Store signed this receipt. Nil if the date is missing or unreadable.
    public internal(set) var creationDate: Date?
    /// The download ID, which is the same in all receipts of one purchase of the app. In Sandbox, the ID is 0.
    public internal(set) var downloadID: UInt64?
    /// Apple's number of the app version in App Store Connect; 0 in Sandbox.
    public internal(set) var versionExternalIdentifier: UInt64?
    /// When the account first got the app. The date is the same after restores and on all devices.
    public internal(set) var originalPurchaseDate: Date?
    /// The version that was first acquired. Absent in Xcode, and in receipts from before June 20, 2013.
    public internal(set) var originalAppVersion: String?
    /// When the app was preordered.
    public internal(set) var preorderDate: Date?
    /// When the license of a volume purchase ends. Xcode writes the year 4001.
    public internal(set) var expirationDate: Date?
    /// The in-app purchases in the order of the receipt. An old receipt lists restored purchases twice.
    public internal(set) var inAppPurchases: [InAppPurchase] = []

    /// The bytes of the receipt, followed by the joined contents of octet strings that are in chunks.
    package internal(set) var bytes: [UInt8] = []
    /// All attributes in the order of the receipt, without the attributes inside in-app purchases.
    package internal(set) var attributes: [RawReceiptAttribute] = []

    // The ranges of two values in `bytes` that bind the receipt to a device; nil if the receipt lacks them.
    var opaqueValue: Range<Int>?
    var sha1Hash: Range<Int>?
    /// The range of the bundle ID with its tag and length, which are part of the device hash.
    var encodedBundleID: Range<Int>?

    /// The environment, and whether the app was bought in volume; nil if `receiptType` is unknown.
    public var type: ReceiptType? { ReceiptType(rawValue: receiptType) }

    /// Whether the App Store created this receipt for the device with this identifier: the 16 bytes of the
    /// `identifierForVendor`, or on macOS the 6 bytes of the primary interface's MAC address.
    ///
    /// Also false if the receipt has no hash, or lacks an attribute that the hash includes.
    public func matches(deviceIdentifier: [UInt8]) -> Bool {
        guard let opaqueValue, let sha1Hash, let encodedBundleID, !deviceIdentifier.isEmpty else { return false }
        var hash = Insecure.SHA1()
        hash.update(data: deviceIdentifier)
        hash.update(data: bytes[opaqueValue])
        hash.update(data: bytes[encodedBundleID])
        // swift-crypto compares a digest with bytes in constant time.
        return hash.finalize() == bytes[sha1Hash]
    }
}

/// One attribute of the receipt, not yet decoded.
package struct RawReceiptAttribute: Sendable, Hashable {
    /// The attribute's number, as in `ReceiptAttribute`.
    package let type: Int32
    /// The range of its value in the payload's bytes.
    package let value: Range<Int>
}

/// Attribute 0 of a receipt: the environment, and whether the app was bought in volume.
public enum ReceiptType: String, CaseIterable, Sendable, Hashable {
    /// From the App Store.
    case production = "Production"
    /// The App Store's Volume Purchase Program.
    case productionVPP = "ProductionVPP"
    /// A sandbox account, TestFlight or App Review.
    case productionSandbox = "ProductionSandbox"
    /// Volume purchases in the sandbox.
    case productionVPPSandbox = "ProductionVPPSandbox"
    /// Listed in documentation, but not in any known receipt.
    case sandbox = "Sandbox"
    /// StoreKit testing in Xcode.
    case xcode = "Xcode"

    /// The environment of the App Store that signed the receipt.
    public var environment: AppStoreEnvironment {
        switch self {
        case .production, .productionVPP: .production
        case .productionSandbox, .productionVPPSandbox, .sandbox: .sandbox
        case .xcode: .xcode
        }
    }

    /// Whether an organization bought the license.
    public var isVolumePurchase: Bool { self == .productionVPP || self == .productionVPPSandbox }
}

/// One in-app purchase in an app receipt: attribute 17. An empty date or text is nil, like a missing date or text.
public struct InAppPurchase: Sendable, Hashable {
    /// The product ID in App Store Connect.
    public internal(set) var productID: String
    /// The ID of this transaction, which is unique in its environment.
    public internal(set) var transactionID: String
    /// The ID of the first purchase; the same for all periods of a subscription.
    public internal(set) var originalTransactionID: String?
    /// How many consumables were bought; otherwise 1.
    public internal(set) var quantity: UInt64?
    /// When the product was bought, restored or renewed.
    public internal(set) var purchaseDate: Date?
    /// When the account first bought the product. The date is the same after restores and renewals.
    public internal(set) var originalPurchaseDate: Date?
    /// The value in the receipt: 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable subscription.
    public internal(set) var productType: UInt64?
    /// When the period of a subscription ends; nil for other products.
    public internal(set) var expiresDate: Date?
    /// When the purchase was refunded. Nil if it wasn't.
    public internal(set) var cancellationDate: Date?
    /// The ID of a subscription period, which is the same on all devices.
    public internal(set) var webOrderLineItemID: UInt64?
    /// Whether the period was a free trial.
    public internal(set) var isTrialPeriod: Bool?
    /// Whether the period had an introductory price.
    public internal(set) var isInIntroOfferPeriod: Bool?
    /// The ID of the promotional offer that applied. Nil if no offer applied.
    public internal(set) var promotionalOfferID: String?
}
