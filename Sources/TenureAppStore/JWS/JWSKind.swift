import TenureJSON

/// The kinds of payload that the App Store signs as JWS. A JWS doesn't name its kind.
public enum JWSKind: String, CaseIterable, Sendable, Hashable {
    case appTransaction
    case transaction
    case renewalInfo
    case notification
    /// A request of retention messaging.
    case realtime

    /// The kind by the keys that only one kind has. Without any of them, by how the app is named.
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
            // Payloads with few fields, as in Apple's fixtures: only renewal info names no app.
            self = has("bundleId") ? .transaction : .renewalInfo
        } else {
            return nil
        }
    }

    /// The name with its article.
    var phrase: String {
        switch self {
        case .appTransaction: "an app transaction"
        case .transaction: "a transaction"
        case .renewalInfo: "renewal info"
        case .notification: "a notification"
        case .realtime: "a retention messaging request"
        }
    }

    /// The fields of its payload in Apple's names and order; empty for a kind that isn't read here.
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
