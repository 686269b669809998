/// The `errorCode` of an answer of the App Store Server API. Unknown ones are kept.
struct AppStoreErrorCode: RawRepresentable, Sendable, Hashable {
    let rawValue: Int64

    static let accountNotFoundRetryable = Self(rawValue: 4_040_002)
    static let appNotFoundRetryable = Self(rawValue: 4_040_004)
    static let originalTransactionNotFound = Self(rawValue: 4_040_005)
    static let originalTransactionNotFoundRetryable = Self(rawValue: 4_040_006)
    static let testNotificationNotFound = Self(rawValue: 4_040_008)
    static let transactionNotFound = Self(rawValue: 4_040_010)
    static let appTransactionNotFound = Self(rawValue: 4_040_019)
    static let rateLimitExceeded = Self(rawValue: 4_290_000)
    static let generalRetryable = Self(rawValue: 5_000_001)

    /// Apple's list of what to try again; every 5xx is tried again anyway.
    var isRetryable: Bool {
        switch self {
        case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionNotFoundRetryable,
            .rateLimitExceeded, .generalRetryable:
            true
        default: false
        }
    }

    /// Its first three digits are the status.
    var saysBadRequest: Bool { (4_000_000..<4_010_000).contains(rawValue) }

    /// That an id is not known in this environment: perhaps in another one, perhaps a minute later.
    var saysUnknownHere: Bool {
        switch self {
        case .transactionNotFound, .originalTransactionNotFound, .appTransactionNotFound: true
        default: false
        }
    }
}
