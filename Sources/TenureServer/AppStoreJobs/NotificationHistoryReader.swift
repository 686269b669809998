import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// Fetches the notifications that the App Store sent in a period, and passes them in order to a closure, which receives
/// them as if the App Store posted them now.
struct NotificationHistoryReader: Sendable {
    let client: AppStoreClient
    let environment: AppStoreEnvironment
    /// The length of a window in seconds: the notifications of a window are fetched, sorted and delivered together.
    var window: TimeInterval = 86_400
    /// The most pages in memory. A window with more pages is halved. A window of one second isn't halved further, so
    /// its notifications are delivered in pieces.
    var maximumPages = 100
    /// The most pages of one second: a million notifications. A price increase notifies all subscribers at once.
    var maximumPagesOfASecond = 50_000

    /// The period that was fetched, and the number of its notifications.
    struct Summary: Sendable, Hashable {
        /// The start of the period, which is later than requested if the App Store no longer keeps older notifications.
        let from: Date
        let to: Date
        /// The number of delivered notifications.
        fileprivate(set) var delivered = 0
    }

    /// Fetches the notifications from `start` up to now, oldest first. A notification at the edge of two windows may
    /// come twice.
    ///
    /// Throws an `AppStoreFailure`, or the error of a closure.
    ///
    /// - Parameters:
    ///   - start: The earliest date of a notification.
    ///   - deliver: Receives each `signedPayload`, unverified. The closure throws only to stop, for example if the
    ///     database fails.
    ///   - reached: Receives a date after all notifications before it were delivered. A later run can start there.
    func run(
        since start: Date, deliver: (_ jws: [UInt8]) async throws -> Void,
        reached: (Date) async throws -> Void
    ) async throws -> Summary {
        let now = client.time.now()
        var position = max(start, now.addingTimeInterval(-Self.retention(in: environment)))
        var summary = Summary(from: position, to: now)
        let window = max(window, Self.minimumWindow)
        var length = window
        // The App Store rejects a window that begins and ends in the same millisecond.
        windows: while position.millisecondsSince1970 < now.millisecondsSince1970 {
            let end = min(position.addingTimeInterval(length), now)
            // The shortest window can't be halved, so it may have many pages. Both the requested and the actual length
            // are compared with the minimum, because the difference of two dates is rounded.
            let isShortest = length <= Self.minimumWindow || end.timeIntervalSince(position) <= Self.minimumWindow
            var pages = Pages(
                start: position, end: end,
                trail: PageTrail(maximumPages: isShortest ? maximumPagesOfASecond : maximumPages))
            repeat {
                guard let payloads = try await payloads(of: &pages, inPieces: isShortest) else {
                    // The window has too many pages, so the next try takes half of it. Nothing of it was delivered yet.
                    length = max(end.timeIntervalSince(position) / 2, Self.minimumWindow)
                    continue windows
                }
                for payload in payloads {
                    try await deliver(payload)
                    summary.delivered += 1
                }
            } while !pages.wereAllRead
            try await reached(end)
            position = end
            length = min(window, length * 2)
        }
        return summary
    }

    /// How long the App Store keeps notifications, in seconds: 180 days in production, 30 in the sandbox. An hour is
    /// subtracted because clocks differ.
    private static func retention(in environment: AppStoreEnvironment) -> TimeInterval {
        (environment == .production ? 180 : 30) * 86_400 - 3600
    }

    /// The shortest window, in seconds. If such a window has too many pages, its notifications are delivered in pieces.
    private static let minimumWindow: TimeInterval = 1

    /// The position in the pages of one window.
    private struct Pages {
        let start: Date
        let end: Date
        /// The token of the next page; nil before the first page.
        var token: String?
        var trail: PageTrail
        /// Whether the last page was read.
        var wereAllRead = false
    }

    /// Returns the notifications of the whole window, or of its next `maximumPages` pages if `inPieces` is true, in the
    /// order of signing. Nil if the window has too many pages and must be halved.
    ///
    /// Throws `unreadable` if the pages repeat, or if a window that can't be halved has too many pages.
    private func payloads(of pages: inout Pages, inPieces: Bool) async throws(AppStoreFailure) -> [[UInt8]]? {
        var payloads: [[UInt8]] = []
        var count = 0
        while true {
            let page = try await client.notificationHistory(
                from: pages.start, to: pages.end, after: pages.token, in: environment)
            payloads += page.notifications.map(\.signedPayload)
            count += 1
            pages.token = page.paginationToken
            switch pages.trail.ending(hasMore: page.hasMore, next: pages.token) {
            case nil where inPieces && count >= maximumPages: return Self.inOrder(payloads)
            case nil: continue
            case .lastPage?:
                pages.wereAllRead = true
                return Self.inOrder(payloads)
            case .circle?: throw .unreadable("the pages of the notification history repeat")
            case .tooLong?:
                guard inPieces else { return nil }
                throw .unreadable("the notification history has too many pages")
            }
        }
    }

    /// Sorts notifications by the unverified date of their signature. A false date does no harm, because the receiver
    /// accepts notifications in any order.
    private static func inOrder(_ payloads: [[UInt8]]) -> [[UInt8]] {
        payloads.enumerated().map { index, jws in
            (signed: (try? UnverifiedJWS(jws))?.signedDate ?? .distantPast, index: index, jws: jws)
        }.sorted { ($0.signed, $0.index) < ($1.signed, $1.index) }.map(\.jws)
    }
}
