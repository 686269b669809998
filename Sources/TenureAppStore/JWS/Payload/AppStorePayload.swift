import Foundation
public import TenureJSON

/// The properties that the four kinds of signed payload share, so that `AppStoreVerifier` can verify all kinds.
protocol AppStorePayload: Sendable, Hashable {
    static var kind: JWSKind { get }
    /// The fields that Apple documents for the payload.
    static var fields: [FieldDescription] { get }
    init(reading read: FieldReader) throws(Rejection)

    /// The parsed JSON of the payload.
    var tape: JSONTape { get }
    var bundleID: String? { get }
    var appAppleID: Int64? { get }
    /// The environment as the payload writes it, which may be unknown.
    var environmentName: String? { get }
    var signedDate: Date? { get }
}

extension AppStorePayload {
    /// The default: only app transactions and notifications have the app's Apple ID.
    var appAppleID: Int64? { nil }
}

extension AppTransactionPayload {
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}

extension TransactionPayload {
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}

extension RenewalInfoPayload {
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}

extension NotificationPayload {
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}
