public import Foundation
public import TenureCore
import TenureJSON

/// The contents of an app transaction, signed by the App Store.
public struct AppTransactionPayload: Sendable, Hashable {
    /// The environment.
    public let receiptType: Open<AppStoreEnvironment>?
    /// Absent outside of production.
    public let appAppleID: Int64?
    public let bundleID: String?
    /// The version of the requesting app: CFBundleVersion, on macOS CFBundleShortVersionString.
    public let applicationVersion: String?
    public let versionExternalIdentifier: Int64?
    /// When it was signed.
    public let receiptCreationDate: Date?
    public let originalPurchaseDate: Date?
    /// CFBundleVersion of the build that was first acquired, on macOS CFBundleShortVersionString.
    public let originalApplicationVersion: String?
    /// Standard Base64 of 48 bytes; only in a device's artifacts.
    public let deviceVerification: String?
    public let deviceVerificationNonce: String?
    public let preorderDate: Date?
    /// One per Apple Account and app.
    public let appTransactionID: String?
    /// The platform on which the app was first acquired; iPadOS counts as iOS.
    public let originalPlatform: Open<Platform>?
    /// Only in artifacts of Xcode, as far as known.
    public let requestDate: Date?
    /// When the purchase of the app was refunded or revoked; since the SDK of 2026.
    public let revocationDate: Date?

    let tape: JSONTape

    enum Fields {
        static let receiptType = Field<Open<AppStoreEnvironment>>("receiptType")
        static let appAppleID = Field<Int64>("appAppleId")
        static let bundleID = Field<String>("bundleId")
        static let applicationVersion = Field<String>("applicationVersion")
        static let versionExternalIdentifier = Field<Int64>("versionExternalIdentifier")
        static let receiptCreationDate = Field<Date>("receiptCreationDate")
        static let originalPurchaseDate = Field<Date>("originalPurchaseDate")
        static let originalApplicationVersion = Field<String>("originalApplicationVersion")
        static let deviceVerification = Field<String>("deviceVerification")
        static let deviceVerificationNonce = Field<String>("deviceVerificationNonce")
        static let preorderDate = Field<Date>("preorderDate")
        static let appTransactionID = Field<String>("appTransactionId")
        static let originalPlatform = Field<Open<Platform>>("originalPlatform")
        static let requestDate = Field<Date>("requestDate")
        static let revocationDate = Field<Date>("revocationDate")
    }
}

extension AppTransactionPayload: StorePayload {
    static var kind: JWSKind { .appTransaction }

    public static let fields: [FieldDescription] = [
        Fields.receiptType.description, Fields.appAppleID.description, Fields.bundleID.description,
        Fields.applicationVersion.description, Fields.versionExternalIdentifier.description,
        Fields.receiptCreationDate.description, Fields.originalPurchaseDate.description,
        Fields.originalApplicationVersion.description, Fields.deviceVerification.description,
        Fields.deviceVerificationNonce.description, Fields.preorderDate.description,
        Fields.appTransactionID.description, Fields.originalPlatform.description, Fields.requestDate.description,
        Fields.revocationDate.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        receiptType = try read(Fields.receiptType)
        appAppleID = try read(Fields.appAppleID)
        bundleID = try read(Fields.bundleID)
        applicationVersion = try read(Fields.applicationVersion)
        versionExternalIdentifier = try read(Fields.versionExternalIdentifier)
        receiptCreationDate = try read(Fields.receiptCreationDate)
        originalPurchaseDate = try read(Fields.originalPurchaseDate)
        originalApplicationVersion = try read(Fields.originalApplicationVersion)
        deviceVerification = try read(Fields.deviceVerification)
        deviceVerificationNonce = try read(Fields.deviceVerificationNonce)
        preorderDate = try read(Fields.preorderDate)
        appTransactionID = try read(identifier: Fields.appTransactionID)
        originalPlatform = try read(Fields.originalPlatform)
        requestDate = try read(Fields.requestDate)
        revocationDate = try read(Fields.revocationDate)
        tape = read.tape
    }
}

extension AppTransactionPayload {
    public var signedDate: Date? { receiptCreationDate }
    var environmentName: String? { receiptType?.rawValue }

    /// The variant of the App Store Server API. It is bound to no device, so it proves nothing about its sender.
    public var isServerVariant: Bool { deviceVerification == nil || deviceVerificationNonce == nil }
}
