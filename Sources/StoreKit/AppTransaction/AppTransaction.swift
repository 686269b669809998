public import Foundation
import TenureAppStore
import TenureJSON

/// The App Store's signed information about the app itself: when, where and as which version the customer first got the
/// app.
///
/// Two app transactions with the same content differ if they were signed at different times.
public struct AppTransaction: SignedValue, Equatable, Hashable, CustomDebugStringConvertible, Sendable {
    let signedText: SignedText

    /// The JSON that the App Store signed: the payload of the JSON Web Signature (JWS).
    public var jsonRepresentation: Data { signedText.payloadData }
    /// The payload as JSON.
    public var debugDescription: String { signedText.payloadText }
    /// The app's Apple ID; nil outside of production.
    public let appID: UInt64?
    /// An ID for the customer's Apple Account, valid only in this app. It never changes.
    public let appTransactionID: String
    /// The version of the running app: CFBundleVersion, on macOS CFBundleShortVersionString.
    public let appVersion: String
    /// Apple's number of the running app's version; nil outside of production.
    public let appVersionID: UInt64?
    /// The bundle ID of the app for which the App Store signed this app transaction. Verification compares it with the
    /// app on the device.
    public let bundleID: String
    /// The environment of the local App Store: production or the sandbox.
    public let environment: AppStore.Environment
    /// The version when the app was first acquired: CFBundleVersion, on macOS CFBundleShortVersionString; “1.0” in the
    /// sandbox.
    public let originalAppVersion: String
    /// The date at which the app was first acquired; August 1, 2013 in the sandbox.
    public let originalPurchaseDate: Date
    /// The platform on which the app was first acquired.
    public let originalPlatform: AppStore.Platform
    /// The name of `originalPlatform` as signed, even if `AppStore.Platform` has no constant for it.
    public var originalPlatformStringRepresentation: String { originalPlatform.rawValue }
    /// The date at which the customer ordered the app before its release; nil if there was no such order, and in the
    /// sandbox.
    public let preorderDate: Date?
    /// The date at which the purchase of the app itself was refunded; nil if it wasn't. Apple's systems report this
    /// date only since 2026.
    public let revocationDate: Date?
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public let deviceVerification: Data
    /// The UUID that was hashed with the device ID. Unlike Apple's nonce, it isn't random, so that tests are
    /// repeatable.
    public let deviceVerificationNonce: UUID
    /// The local App Store's time when it signed this app transaction.
    public let signedDate: Date

    /// The app transaction that the device has stored. If the device has none, gets the app transaction from the App
    /// Store, without a prompt. Throws a `StoreKitError` if the App Store doesn't send an app transaction.
    public static var shared: VerificationResult<AppTransaction> {
        get async throws { try await LocalStore.required().appTransaction() }
    }

    /// Gets the app transaction from the App Store again, and replaces the stored copy. The customer has to sign in, so
    /// call this method only after a tap on a button. Throws `StoreKitError.userCancelled` if the customer doesn't sign
    /// in, `networkError` while offline.
    public static func refresh() async throws -> VerificationResult<AppTransaction> {
        try await LocalStore.required().refreshAppTransaction()
    }

    init?(_ signed: SignedText) {
        let payload = signed.payload
        guard let appTransactionID = payload.text("appTransactionId"),
            let appVersion = payload.text("applicationVersion"), let bundleID = payload.text("bundleId"),
            let environment = payload.text("receiptType"),
            let originalAppVersion = payload.text("originalApplicationVersion"),
            let originalPurchaseDate = payload.date("originalPurchaseDate"),
            let signedDate = payload.date("receiptCreationDate"), let device = DeviceBinding(payload)
        else { return nil }
        self.signedText = signed
        self.appTransactionID = appTransactionID
        appID = payload.number("appAppleId").flatMap(UInt64.init)
        self.appVersion = appVersion
        appVersionID = payload.number("versionExternalIdentifier").flatMap(UInt64.init)
        self.bundleID = bundleID
        self.environment = AppStore.Environment(rawValue: environment)
        self.originalAppVersion = originalAppVersion
        self.originalPurchaseDate = originalPurchaseDate
        originalPlatform = AppStore.Platform(rawValue: payload.text("originalPlatform") ?? "")
        preorderDate = payload.date("preorderDate")
        revocationDate = payload.date("revocationDate")
        deviceVerification = device.hash
        deviceVerificationNonce = device.nonce
        self.signedDate = signedDate
    }

    static func verify(_ jws: [UInt8], by verifier: AppStoreVerifier) throws(Rejection) -> DeviceVerification? {
        try verifier.verifyAppTransaction(jws, now: nil).payload.deviceBinding()
    }
}
