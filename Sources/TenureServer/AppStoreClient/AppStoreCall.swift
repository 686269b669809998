import TenureCore

/// One request to the App Store Server API, the same for production and the sandbox.
struct AppStoreCall: Sendable, Hashable {
    let endpoint: AppStoreEndpoint
    /// The path and query, percent-encoded.
    let target: String
    /// The JSON of the request's body; nil if the request has no body.
    let body: [UInt8]?

    /// Creates a call. The ID, if any, is appended to the endpoint's path. Throws `invalidID` if the ID can't be part
    /// of a path.
    ///
    /// - Parameter query: The names and values of the query. Names without a value are left out.
    init(
        _ endpoint: AppStoreEndpoint, _ id: String? = nil, query: [(String, String?)] = [], body: [UInt8]? = nil
    ) throws(AppStoreFailure) {
        var target = endpoint.properties.path
        if let id {
            guard !id.isEmpty, id.utf8.count <= Self.maximumIDLength, id != ".", id != ".." else { throw .invalidID }
            target += id.percentEncoded()  // An ID with a slash or `?` can't change the endpoint.
        }
        let parameters = query.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded())" } }
        if !parameters.isEmpty { target += "?" + parameters.joined(separator: "&") }
        self.endpoint = endpoint
        self.target = target
        self.body = body
    }

    /// The longest ID in bytes. Transaction IDs have up to 18 bytes, and tokens of test notifications about 60.
    private static let maximumIDLength = 256
}

/// An endpoint of the App Store Server API. Its raw value is its name in logs.
enum AppStoreEndpoint: String, Sendable, Hashable, CaseIterable {
    /// A page of a customer's transactions. Version 2 of the endpoint also lists finished consumables.
    case transactionHistory
    /// The last transaction and renewal info of each subscription of a customer.
    case subscriptionStatuses
    /// A customer's app transaction.
    case appTransactionInfo
    /// A page of a customer's refunded transactions.
    case refundHistory
    /// The transactions of an order ID from an email receipt.
    case orderLookup
    /// A page of the notifications that the App Store sent between two dates.
    case notificationHistory
    /// Asks the App Store to send a test notification.
    case requestTestNotification
    /// Returns a test notification, and the App Store's attempts to send it.
    case testNotificationStatus

    /// The HTTP method; the path, after which an ID may follow; and Apple's limit of requests per second in production.
    fileprivate var properties: (method: String, path: String, rate: Double) {
        switch self {
        case .transactionHistory: ("GET", "/inApps/v2/history/", 50)
        case .subscriptionStatuses: ("GET", "/inApps/v1/subscriptions/", 50)
        case .appTransactionInfo: ("GET", "/inApps/v1/transactions/appTransactions/", 50)
        case .refundHistory: ("GET", "/inApps/v2/refund/lookup/", 10)
        case .orderLookup: ("GET", "/inApps/v1/lookup/", 10)
        case .notificationHistory: ("POST", "/inApps/v1/notifications/history", 50)
        case .requestTestNotification: ("POST", "/inApps/v1/notifications/test", 1)
        case .testNotificationStatus: ("GET", "/inApps/v1/notifications/test/", 1)
        }
    }

    /// The HTTP method.
    var method: String { properties.method }

    /// Requests per second for one app: Apple's limit in production, and a tenth of it in the sandbox.
    func rate(in environment: AppStoreEnvironment) -> Double {
        environment == .production ? properties.rate : properties.rate / 10
    }
}
