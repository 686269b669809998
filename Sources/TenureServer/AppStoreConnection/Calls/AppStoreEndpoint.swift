import TenureCore

/// What of the App Store Server API is used here. Its raw value is how logs call it.
enum AppStoreEndpoint: String, Sendable, Hashable, CaseIterable {
    case transactionHistory
    case transactionInfo
    case subscriptionStatuses
    case appTransactionInfo
    case refundHistory
    case orderLookup
    case notificationHistory
    case requestTestNotification
    case testNotificationStatus

    /// Calls per second for one app: Apple's table for production, and a tenth of it in the sandbox.
    func rate(in environment: AppStoreEnvironment) -> Double {
        environment == .production ? productionRate : productionRate / 10
    }

    private var productionRate: Double {
        switch self {
        case .transactionHistory, .transactionInfo, .subscriptionStatuses, .appTransactionInfo, .notificationHistory:
            50
        case .refundHistory, .orderLookup: 10
        case .requestTestNotification, .testNotificationStatus: 1
        }
    }

    var method: String {
        switch self {
        case .notificationHistory, .requestTestNotification: "POST"
        default: "GET"
        }
    }
}
