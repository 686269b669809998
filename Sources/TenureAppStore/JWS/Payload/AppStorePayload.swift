import Foundation
import TenureJSON

/// The properties that the four kinds of signed payload share, so that `AppStoreVerifier` can verify all kinds.
protocol AppStorePayload: Sendable, Hashable {
    /// The kind of all payloads of this type.
    static var kind: JWSKind { get }
    /// The fields that Apple documents for the payload.
    static var fields: [FieldDescription] { get }
    /// Reads all fields. Throws `malformed` if a field has the wrong type.
    init(reading read: FieldReader) throws(Rejection)

    /// The parsed JSON of the payload.
    var tape: JSONTape { get }
    /// `CFBundleIdentifier` of the app; nil if the payload doesn't contain it.
    var bundleID: String? { get }
    /// The app's Apple ID; nil if the payload doesn't contain it.
    var appAppleID: Int64? { get }
    /// The environment as the payload writes it, which may be unknown.
    var environmentName: String? { get }
    /// When the App Store signed the payload; nil if the payload doesn't contain the date.
    var signedDate: Date? { get }
}

extension AppStorePayload {
    /// Nil by default, because only app transactions and notifications have the app's Apple ID.
    var appAppleID: Int64? { nil }
}
