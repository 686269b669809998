import Foundation
public import TenureJSON

/// The properties that the four kinds of signed payload share.
protocol StorePayload: Sendable, Hashable {
    static var kind: JWSKind { get }
    static var fields: [FieldDescription] { get }
    init(reading read: FieldReader) throws(Rejection)

    var tape: JSONTape { get }
    var bundleID: String? { get }
    var appAppleID: Int64? { get }
    var environmentName: String? { get }
    var signedDate: Date? { get }
}

extension StorePayload {
    // Only app transactions and notifications have the app's Apple ID.
    var appAppleID: Int64? { nil }
}

extension AppTransactionPayload {
    /// Every field as it was signed, the unknown ones too.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}

extension TransactionPayload {
    /// Every field as it was signed, the unknown ones too.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}

extension RenewalInfoPayload {
    /// Every field as it was signed, the unknown ones too.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}

extension NotificationPayload {
    /// Every field as it was signed, the unknown ones too.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }
}
