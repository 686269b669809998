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
    /// Pages that are kept in memory; a window with more is halved.
    var mostPages = 100

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
            guard let payloads = try await payloads(from: position, to: end, onlyFailures) else {
                length = max(end.timeIntervalSince(position) / 2, Self.shortestWindow)
                continue
            }
            for payload in payloads {
                try await deliver(payload)
                summary.delivered += 1
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

    /// Seconds; a window that is full at this length is an answer that makes no sense.
    private static let shortestWindow: TimeInterval = 1

    /// By their signing. Nil where there are too many to keep. Throws `unreadable` where the pages have no end.
    private func payloads(
        from start: Date, to end: Date, _ onlyFailures: Bool
    ) async throws(AppStoreFailure) -> [[UInt8]]? {
        var payloads: [[UInt8]] = []
        var token: String?
        var trail = PageTrail(most: mostPages)
        while true {
            let page = try await connection.notificationHistory(
                from: start, to: end, onlyFailures: onlyFailures, after: token, in: environment)
            payloads += page.notifications.map(\.signedPayload)
            token = page.paginationToken
            switch trail.ending(hasMore: page.hasMore, next: token) {
            case nil: continue
            case .lastPage?: return Self.inOrder(payloads)
            case .circle?: throw .unreadable("the notification history leads in a circle")
            case .tooLong?:
                guard end.timeIntervalSince(start) > Self.shortestWindow else {
                    throw .unreadable("the notification history has no end")
                }
                return nil
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
