import TenureJSON

/// The kinds of payload that the App Store signs as JWS. A JWS doesn't contain its kind, so the kind is recognized by
/// the payload's fields.
public enum JWSKind: String, CaseIterable, Sendable, Hashable {
    /// About the app itself. Recognized by `receiptType`.
    case appTransaction
    /// About one purchase of a product. Recognized by `transactionId`.
    case transaction
    /// About the next renewal of a subscription. Recognized by `autoRenewStatus` or `autoRenewProductId`.
    case renewalInfo
    /// A server notification, version 2. Recognized by `notificationType`.
    case notification
    /// A request of retention messaging, which this library doesn't read. Recognized by `userLocale` and
    /// `requestIdentifier`.
    case realtime

    /// Recognizes the kind of a payload by fields that only this kind has.
    ///
    /// If there is no such field, a payload with an environment is a transaction if it has a bundle ID, and otherwise
    /// renewal info. Any other payload has no known kind.
    init?(of tape: JSONTape) {
        func has(_ name: StaticString) -> Bool { tape.value(named: name, inObjectAt: tape.root) != nil }
        if has("notificationType") {
            self = .notification
        } else if has("transactionId") {
            self = .transaction
        } else if has("receiptType") {
            self = .appTransaction
        } else if has("autoRenewStatus") || has("autoRenewProductId") {
            self = .renewalInfo
        } else if has("userLocale"), has("requestIdentifier") {
            self = .realtime
        } else if has("environment") {
            // Some payloads have few fields, such as Apple's fixtures. Only renewal info has no bundle ID.
            self = has("bundleId") ? .transaction : .renewalInfo
        } else {
            return nil
        }
    }

    /// The name for messages, such as "an app transaction".
    var phrase: String {
        switch self {
        case .appTransaction: "an app transaction"
        case .transaction: "a transaction"
        case .renewalInfo: "renewal info"
        case .notification: "a notification"
        case .realtime: "a retention messaging request"
        }
    }

    /// The fields of the payload with Apple's names, in Apple's order. Empty for a kind that this library doesn't read.
    public var fields: [FieldDescription] {
        switch self {
        case .appTransaction: AppTransactionPayload.fields
        case .transaction: TransactionPayload.fields
        case .renewalInfo: RenewalInfoPayload.fields
        case .notification: NotificationPayload.fields
        case .realtime: []
        }
    }
}
