package import Foundation

/// The local store's own time: it stands still until it is turned.
package struct StoreClock: Sendable, Hashable {
    package private(set) var now: Date

    package init(startingAt now: Date) { self.now = now }

    package mutating func advance(by seconds: TimeInterval) { now.addTimeInterval(max(0, seconds)) }
}
