package import Foundation

/// The clock of the local App Store, in whole milliseconds like the App Store's dates. The time changes only when it is
/// set, and never goes back.
package struct AppStoreClock: Sendable, Hashable {
    package private(set) var now: Date

    init(startingAt now: Date) { self.now = now.inMilliseconds }

    mutating func advance(to instant: Date) { now = max(now, instant.inMilliseconds) }
}

extension Date {
    var inMilliseconds: Date { Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000) }
}
