import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// One request to the App Store Server API, the same for both environments.
struct AppStoreCall: Sendable, Hashable {
    let endpoint: AppStoreEndpoint
    /// The path and query, percent-encoded.
    let target: String
    /// The JSON of the request's body; nil if the request has no body.
    let body: [UInt8]?

    /// Asks for a page of a customer's transactions.
    ///
    /// Version 2 of the endpoint also lists finished consumables. The response contains a revision from which a later
    /// call continues, but only if the order is ascending.
    static func transactionHistory(of id: AppStoreCustomerID, after revision: String?) throws(AppStoreFailure) -> Self {
        try Self(
            .transactionHistory, "/inApps/v2/history/", id.text, query: [("sort", "ASCENDING"), ("revision", revision)])
    }

    /// Asks for the last transaction and renewal info of each subscription.
    static func subscriptionStatuses(of id: AppStoreCustomerID) throws(AppStoreFailure) -> Self {
        try Self(.subscriptionStatuses, "/inApps/v1/subscriptions/", id.text)
    }

    /// Asks for the customer's app transaction.
    static func appTransactionInfo(of id: AppStoreCustomerID) throws(AppStoreFailure) -> Self {
        try Self(.appTransactionInfo, "/inApps/v1/transactions/appTransactions/", id.text)
    }

    /// Asks for a page of the customer's refunded transactions.
    static func refundHistory(of id: AppStoreCustomerID, after revision: String?) throws(AppStoreFailure) -> Self {
        try Self(.refundHistory, "/inApps/v2/refund/lookup/", id.text, query: [("revision", revision)])
    }

    /// Asks for the transactions of an order ID from an email receipt.
    static func orderLookup(_ orderID: String) throws(AppStoreFailure) -> Self {
        try Self(.orderLookup, "/inApps/v1/lookup/", orderID)
    }

    /// Asks for a page of the notifications that the App Store sent between two dates.
    static func notificationHistory(
        from start: Date, to end: Date, after paginationToken: String?
    ) throws(AppStoreFailure) -> Self {
        let body = JSONWriter.object { json in
            json.field("startDate", start.millisecondsSince1970)
            json.field("endDate", end.millisecondsSince1970)
        }
        return try Self(
            .notificationHistory, "/inApps/v1/notifications/history", query: [("paginationToken", paginationToken)],
            body: body)
    }

    /// Asks the App Store to send a test notification.
    static func requestTestNotification() throws(AppStoreFailure) -> Self {
        try Self(.requestTestNotification, "/inApps/v1/notifications/test")
    }

    /// Asks what became of a test notification.
    static func testNotificationStatus(_ token: String) throws(AppStoreFailure) -> Self {
        try Self(.testNotificationStatus, "/inApps/v1/notifications/test/", token)
    }

    /// Creates a call. The ID is appended to the path. Throws `invalidID` if it can't be part of a path.
    private init(
        _ endpoint: AppStoreEndpoint, _ path: String, _ id: String? = nil, query: [(String, String?)] = [],
        body: [UInt8]? = nil
    ) throws(AppStoreFailure) {
        var target = path
        if let id {
            guard !id.isEmpty, id.utf8.count <= Self.maximumIDLength, id != ".", id != ".." else { throw .invalidID }
            target += id.percentEncoded()  // No ID can change the path.
        }
        let present = query.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded())" } }
        if !present.isEmpty { target += "?" + present.joined(separator: "&") }
        self.endpoint = endpoint
        self.target = target
        self.body = body
    }

    /// The longest ID in bytes. Transaction IDs have up to 18 bytes, and tokens of test notifications about 60.
    private static let maximumIDLength = 256
}

/// An endpoint of the App Store Server API. Its raw value is its name in logs.
enum AppStoreEndpoint: String, Sendable, Hashable, CaseIterable {
    case transactionHistory
    case subscriptionStatuses
    case appTransactionInfo
    case refundHistory
    case orderLookup
    case notificationHistory
    case requestTestNotification
    case testNotificationStatus

    /// Requests per second for one app: Apple's limit in production, and a tenth of it in the sandbox.
    func rate(in environment: AppStoreEnvironment) -> Double {
        environment == .production ? productionRate : productionRate / 10
    }

    private var productionRate: Double {
        switch self {
        case .transactionHistory, .subscriptionStatuses, .appTransactionInfo, .notificationHistory: 50
        case .refundHistory, .orderLookup: 10
        case .requestTestNotification, .testNotificationStatus: 1
        }
    }

    /// The HTTP method.
    var method: String {
        switch self {
        case .notificationHistory, .requestTestNotification: "POST"
        default: "GET"
        }
    }
}

/// An ID with which the App Store finds a customer's purchases.
enum AppStoreCustomerID: Sendable, Hashable {
    /// A transaction ID or original transaction ID.
    case transaction(String)
    case appTransaction(String)

    /// Creates the strongest ID: the app transaction ID, or the first original transaction ID. Nil if the identities
    /// have neither.
    init?(_ identities: some Sequence<Identity>) {
        let strongest = identities.lazy.filter { $0.kind == .appTransactionID || $0.kind == .originalTransactionID }
            .min { ($0.kind, $0.value) < ($1.kind, $1.value) }
        guard let strongest else { return nil }
        self = strongest.kind == .appTransactionID ? .appTransaction(strongest.value) : .transaction(strongest.value)
    }

    /// The ID, for the path of a request.
    var text: String {
        switch self {
        case .transaction(let id), .appTransaction(let id): id
        }
    }
}
