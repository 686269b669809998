import Foundation
import Hummingbird
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// Requests for the notification history and for test notifications.
extension ServerAPI {
    /// Adds the endpoints of these requests.
    func addNotifications(to apps: RouterGroup<BasicRequestContext>) {
        apps.post("v1/notifications/history") { await answer($0, $1, .perSecond50) { try $0.notificationHistory() } }
        apps.post("v1/notifications/test") { await respond($0, $1, .perSecond1) { try await test($0) } }
        apps.get("v1/notifications/test/{id}") { await answer($0, $1, .perSecond1) { try $0.testNotification() } }
    }

    /// Sends a test notification, and returns the token to ask for the result.
    private func test(_ request: ServerAPIRequest) async throws -> Response {
        let app = request.state.apps[request.app]
        guard app.notificationURL != nil else { throw ServerAPIError.notificationURLNotFound }
        let caused = try await store.perform(AppStoreOperation(.testNotification, [.app: app.bundleID]))
        guard let notification = caused.last(where: { $0.type == .test }) else { throw ServerAPIError.generalInternal }
        return .json(["testNotificationToken": .string(notification.token)])
    }
}

extension AppStoreNotification {
    /// The token with which a developer's server asks for the result of this test notification.
    fileprivate var token: String { "\(uuid.uuidString.lowercased())_\(Int64(date.timeIntervalSince1970 * 1000))" }
}

extension ServerAPIRequest {
    /// How long the history lists a notification, in seconds.
    private var retentionPeriod: TimeInterval { (state.environment.isProduction ? 180 : 30) * 86_400 }

    /// Returns the test notification with the token in the path, and its delivery attempts.
    func testNotification() throws -> JSONObject {
        let parts = id.split(separator: "_")
        guard parts.count == 2, UUID(uuidString: String(parts[0])) != nil, Int64(parts[1]) != nil else {
            throw ServerAPIError.invalidTestNotificationToken
        }
        guard
            let notification = state.notifications.last(where: { $0.app == app && $0.type == .test && $0.token == id })
        else { throw ServerAPIError.testNotificationNotFound }
        return try item(notification)
    }

    /// Returns a page of twenty notifications with their delivery attempts, the oldest first.
    func notificationHistory() throws -> JSONObject {
        let body = try bodyObject()
        let oldest = state.now.addingTimeInterval(-retentionPeriod)
        let filter = try NotificationFilter(body, of: self, oldest: oldest)
        // Notifications are ordered by date.
        var firstIndex = state.notifications.partitioningIndex { $0.date >= filter.begin }
        if let token = queryValue("paginationToken"), !token.isEmpty {
            guard let bytes = Base64.urlSafe.decode(Array(token.utf8)[...]),
                let number = Int(String(decoding: bytes, as: UTF8.self)),
                (0...state.notifications.count).contains(number)
            else { throw ServerAPIError.invalidPaginationToken }
            // Apple doesn't document when a token expires. Here, a token expires with the notifications that it leads
            // to.
            if number < state.notifications.count, state.notifications[number].date < oldest {
                throw ServerAPIError.paginationTokenExpired
            }
            firstIndex = max(firstIndex, number)
        }
        let candidates = state.notifications[firstIndex...].prefix { $0.date <= filter.end }
        // One more than a page: it begins the next page, if there is one.
        let found = Array(candidates.lazy.filter { filter.admits($0) }.prefix(Self.pageSize + 1))
        let nextIndex = found.count > Self.pageSize ? found[Self.pageSize].index : nil
        var answer = JSONObject()
        answer.add([
            "paginationToken": nextIndex.map { .string(Base64.urlSafe.text(String($0).utf8)) },
            "hasMore": .boolean(nextIndex != nil),
            "notificationHistory": .array(try found.prefix(Self.pageSize).map { .object(try item($0)) }),
        ])
        return answer
    }

    /// Returns a notification as the history lists it.
    private func item(_ notification: AppStoreNotification) throws -> JSONObject {
        [
            "signedPayload": .string(try signer.notification(notification, in: state)),
            "sendAttempts": .array(
                notification.attempts.map {
                    .object(["attemptDate": .instant($0.date), "sendAttemptResult": .string($0.result.rawValue)])
                }),
        ]
    }
}

/// The filter in a request for the notification history.
private struct NotificationFilter {
    let app: Int
    let begin: Date
    let end: Date
    let type: String?
    let subtype: String?
    /// The index of the customer, if only one customer's notifications are requested; nil for all customers.
    let account: Int?
    /// Whether only notifications are requested that were never sent, or that failed at the last attempt.
    let onlyFailures: Bool

    init(_ body: JSONObject, of request: ServerAPIRequest, oldest: Date) throws(ServerAPIError) {
        app = request.app
        guard let begin = try request.milliseconds(body.number("startDate"), .invalidStartDate) else {
            throw .invalidStartDate
        }
        guard let end = try request.milliseconds(body.number("endDate"), .invalidEndDate) else { throw .invalidEndDate }
        guard begin >= oldest else { throw .startDateTooFarInPast }
        guard begin < end else { throw .startDateAfterEndDate }
        (self.begin, self.end) = (begin, end)
        type = try Self.text(body["notificationType"]) { NotificationType(rawValue: $0) != nil }
        subtype = try Self.text(body["notificationSubtype"]) { NotificationSubtype(rawValue: $0) != nil }
        // A subtype needs a type.
        guard subtype == nil || type != nil else { throw .invalidNotificationType }
        switch body["transactionId"] {
        case nil, .null?: account = nil
        case .string(let id)?:
            guard type == nil else { throw .multipleFiltersSupplied }
            account = try request.transaction(id).account
        default: throw .invalidTransactionID
        }
        switch body["onlyFailures"] {
        case nil, .null?, .boolean(false)?: onlyFailures = false
        case .boolean(true)?: onlyFailures = true
        default: throw .generalBadRequest
        }
    }

    /// Returns a notification type or subtype; nil if the field is missing or null. Throws if it isn't known.
    private static func text(_ value: JSONValue?, isKnown: (String) -> Bool) throws(ServerAPIError) -> String? {
        switch value {
        case nil, .null?: return nil
        case .string(let text)? where isKnown(text): return text
        default: throw .invalidNotificationType
        }
    }

    /// Whether the filter admits a notification. Doesn't check the dates: `notificationHistory()` does.
    func admits(_ notification: AppStoreNotification) -> Bool {
        guard notification.app == app else { return false }
        if let type, notification.type.rawValue != type { return false }
        if let subtype, notification.subtype?.rawValue != subtype { return false }
        if let account, notification.transaction?.account != account { return false }
        return !onlyFailures || notification.attempts.last?.result != .success
    }
}
