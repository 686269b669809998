/// Up to 20 notifications, and the way to the next ones.
struct NotificationPage: Sendable {
    let notifications: [SentNotification]
    let paginationToken: String?
    let hasMore: Bool
}
