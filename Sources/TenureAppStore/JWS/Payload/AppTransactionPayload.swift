public import Foundation
public import TenureCore
public import TenureJSON

/// The contents of an app transaction, signed by the App Store.
public struct AppTransactionPayload: Sendable, Hashable, AppStorePayload {
    /// The environment in which the App Store signed the app transaction.
    public let receiptType: Open<AppStoreEnvironment>?
    /// The app's Apple ID (adam ID). Missing outside of production.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// The version of the app that requested the app transaction: CFBundleVersion, on macOS
    /// CFBundleShortVersionString.
    public let applicationVersion: String?
    /// Apple's number of the app version in App Store Connect; 0 in Sandbox.
    public let versionExternalIdentifier: Int64?
    /// When the app transaction was signed.
    public let receiptCreationDate: Date?
    /// When the account first got the app. The date is the same after restores and on all devices.
    public let originalPurchaseDate: Date?
    /// CFBundleVersion of the build that was first acquired, on macOS CFBundleShortVersionString.
    public let originalApplicationVersion: String?
    /// The hash that binds the artifact to a device: standard Base64 of 48 bytes. Only in a device's artifacts.
    public let deviceVerification: String?
    /// The UUID in the hash that binds the artifact to a device.
    public let deviceVerificationNonce: String?
    /// When the app was preordered. Nil if it wasn't.
    public let preorderDate: Date?
    /// Apple's ID of the customer's acquisition of the app: one for each Apple Account and app.
    public let appTransactionID: String?
    /// The platform on which the app was first acquired. iPadOS is treated as iOS.
    public let originalPlatform: Open<Platform>?
    /// When the app requested the app transaction. Seen only in artifacts from Xcode.
    public let requestDate: Date?
    /// When the purchase of the app was refunded or revoked; nil otherwise. New in the SDKs of 2026.
    public let revocationDate: Date?

    /// The parsed JSON of the payload, with all of its fields.
    let tape: JSONTape
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }

    static var kind: JWSKind { .appTransaction }

    /// Every field that Apple documents for this payload, for code that shows or creates payloads.
    public static let fields = FieldReader.fields(of: Self.init(reading:))

    init(reading read: FieldReader) throws(Rejection) {
        receiptType = try read("receiptType")
        appAppleID = try read("appAppleId")
        bundleID = try read("bundleId")
        applicationVersion = try read("applicationVersion")
        versionExternalIdentifier = try read("versionExternalIdentifier")
        receiptCreationDate = try read("receiptCreationDate")
        originalPurchaseDate = try read("originalPurchaseDate")
        originalApplicationVersion = try read("originalApplicationVersion")
        deviceVerification = try read("deviceVerification")
        deviceVerificationNonce = try read("deviceVerificationNonce")
        preorderDate = try read("preorderDate")
        appTransactionID = try read(identifier: "appTransactionId")
        originalPlatform = try read("originalPlatform")
        requestDate = try read("requestDate")
        revocationDate = try read("revocationDate")
        tape = read.tape
    }

    /// When the App Store signed the payload.
    public var signedDate: Date? { receiptCreationDate }
    /// The environment as the payload writes it.
    var environmentName: String? { receiptType?.rawValue }

    /// Whether a field of the device binding is missing, as in payloads that the App Store signs for a server. Such a
    /// payload doesn't prove that the client that sends it runs on the customer's device.
    public var isSignedForServer: Bool { deviceVerification == nil || deviceVerificationNonce == nil }

    /// Returns the binding to a device; nil if the App Store signed the app transaction for a server. Throws
    /// `malformed` if only one of its two fields is present, or a field is invalid.
    public func deviceBinding() throws(Rejection) -> DeviceVerification? {
        try DeviceVerification(hash: deviceVerification, nonce: deviceVerificationNonce)
    }
}
