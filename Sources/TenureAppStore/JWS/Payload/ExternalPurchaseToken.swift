public import Foundation
public import TenureCore

/// The part of a notification about a purchase outside of the App Store.
public struct ExternalPurchaseToken: Sendable, Hashable {
    /// A UUID; in the sandbox with the prefix `SANDBOX_`.
    public let externalPurchaseID: String?
    public let tokenCreationDate: Date?
    public let appAppleID: Int64?
    public let bundleID: String?
    public let tokenExpirationDate: Date?
    public let tokenType: Open<ExternalPurchaseTokenType>?

    enum Fields {
        static let externalPurchaseID = Field<String>("externalPurchaseId")
        static let tokenCreationDate = Field<Date>("tokenCreationDate")
        static let appAppleID = Field<Int64>("appAppleId")
        static let bundleID = Field<String>("bundleId")
        static let tokenExpirationDate = Field<Date>("tokenExpirationDate")
        static let tokenType = Field<Open<ExternalPurchaseTokenType>>("tokenType")
    }
}

extension ExternalPurchaseToken: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.externalPurchaseID.description, Fields.tokenCreationDate.description, Fields.appAppleID.description,
        Fields.bundleID.description, Fields.tokenExpirationDate.description, Fields.tokenType.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        externalPurchaseID = try read(Fields.externalPurchaseID)
        tokenCreationDate = try read(Fields.tokenCreationDate)
        appAppleID = try read(Fields.appAppleID)
        bundleID = try read(Fields.bundleID)
        tokenExpirationDate = try read(Fields.tokenExpirationDate)
        tokenType = try read(Fields.tokenType)
    }
}

extension ExternalPurchaseToken {
    /// There is no key for the environment: sandbox tokens have a prefix.
    public var environment: AppStoreEnvironment {
        externalPurchaseID?.hasPrefix("SANDBOX") == true ? .sandbox : .production
    }
}
