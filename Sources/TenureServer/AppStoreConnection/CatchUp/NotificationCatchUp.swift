import Foundation
import TenureAppStore
import TenureCore

/// Fetches the notifications that the App Store sent while we could not take them, and hands each on as if it had just
/// been posted.
struct NotificationCatchUp: Sendable {
    let connection: AppStoreConnection
    let environment: AppStoreEnvironment
    /// Seconds of history that are fetched, put in order and handed on together.
    var window: TimeInterval = 86_400
    /// Pages that are kept in memory; a window with more is halved, and a second with more is handed on in pieces.
    var mostPages = 100
    /// A million notifications: a price that rises is told of everybody at once.
    var mostPagesOfASecond = 50_000

    struct Summary: Sendable, Hashable {
        /// Later than asked where the App Store keeps no older ones.
        let from: Date
        let to: Date
        fileprivate(set) var delivered = 0
    }

    /// Fetches what was sent from `start` up to now, oldest first, and hands over each `signedPayload`, unverified.
    ///
    /// A notification at the edge of two windows may come twice. `deliver` throws what makes it not worth going on, such
    /// as a record that cannot be written; for a payload that it refuses it returns. After everything up to an instant
    /// was delivered, `reached` is told that instant, so that a later run can begin there.
    ///
    /// Throws an `AppStoreFailure`, or what `deliver` or `reached` threw.
    func run(
        since start: Date, onlyFailures: Bool = false,
        deliver: (_ jws: [UInt8]) async throws -> Void,
        reached: (Date) async throws -> Void = { _ in }
    ) async throws -> Summary {
        let now = connection.time.now()
        var position = max(start, now.addingTimeInterval(-Self.kept(in: environment)))
        var summary = Summary(from: position, to: now)
        let window = max(window, Self.shortestWindow)
        var length = window
        while position < now {
            let end = min(position.addingTimeInterval(length), now)
            // By its length, too: the difference of two instants is rounded.
            let isShortest = length <= Self.shortestWindow || end.timeIntervalSince(position) <= Self.shortestWindow
            var pages = Pages(from: position, to: end, onlyFailures, most: isShortest ? mostPagesOfASecond : mostPages)
            var isWhole = true
            repeat {
                guard let payloads = try await payloads(of: &pages, inPieces: isShortest) else {
                    isWhole = false
                    break
                }
                for payload in payloads {
                    try await deliver(payload)
                    summary.delivered += 1
                }
            } while !pages.areOver
            guard isWhole else {
                length = max(end.timeIntervalSince(position) / 2, Self.shortestWindow)
                continue
            }
            try await reached(end)
            position = end
            length = min(window, length * 2)
        }
        return summary
    }

    /// Seconds: 180 days in production, 30 in the sandbox, less an hour for clocks that differ.
    private static func kept(in environment: AppStoreEnvironment) -> TimeInterval {
        (environment == .production ? 180 : 30) * 86_400 - 3600
    }

    /// Seconds; a window that is full at this length is handed on in pieces.
    private static let shortestWindow: TimeInterval = 1

    /// Where the pages of one window go on.
    private struct Pages {
        let start: Date
        let end: Date
        let onlyFailures: Bool
        var token: String?
        var trail: PageTrail
        var areOver = false

        init(from start: Date, to end: Date, _ onlyFailures: Bool, most: Int) {
            self.start = start
            self.end = end
            self.onlyFailures = onlyFailures
            trail = PageTrail(most: most)
        }
    }

    /// The next piece, by their signing; all of the window unless it comes in pieces. Nil where there are too many to
    /// keep. Throws `unreadable` where the pages have no end.
    private func payloads(of pages: inout Pages, inPieces: Bool) async throws(AppStoreFailure) -> [[UInt8]]? {
        var payloads: [[UInt8]] = []
        var count = 0
        while true {
            let page = try await connection.notificationHistory(
                from: pages.start, to: pages.end, onlyFailures: pages.onlyFailures, after: pages.token, in: environment)
            payloads += page.notifications.map(\.signedPayload)
            count += 1
            pages.token = page.paginationToken
            switch pages.trail.ending(hasMore: page.hasMore, next: pages.token) {
            case nil where inPieces && count >= mostPages: return Self.inOrder(payloads)
            case nil: continue
            case .lastPage?:
                pages.areOver = true
                return Self.inOrder(payloads)
            case .circle?: throw .unreadable("the notification history leads in a circle")
            case .tooLong?:
                guard inPieces else { return nil }
                throw .unreadable("the notification history has no end")
            }
        }
    }

    /// The date is read unverified: it decides the order only, and who takes notifications bears any order.
    private static func inOrder(_ payloads: [[UInt8]]) -> [[UInt8]] {
        payloads.enumerated().map { index, jws in
            (signed: (try? UnverifiedJWS(jws))?.signedDate ?? .distantPast, index: index, jws: jws)
        }.sorted { ($0.signed, $0.index) < ($1.signed, $1.index) }.map(\.jws)
    }
}
