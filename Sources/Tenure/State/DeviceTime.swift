package import Foundation

/// The device's knowledge of time. Its clock alone isn't enough, because people change it.
///
/// - Rights end at instants: for them time never runs backwards, so that a clock that is turned back extends nothing.
///   Only something newly signed shows that a clock had been wrong before.
/// - Waiting is counted from a beginning: beginnings move with a clock that is turned back, so that what was waited
///   stays waited, and no clock set to a far year stops the count.
package struct DeviceTime: Sendable, Hashable, Codable {
    /// The latest instant that this device has reached.
    package private(set) var floor: Date
    /// The time on the clock when it was last read.
    package private(set) var lastClock: Date
    /// When the newest artifact was signed.
    package private(set) var newestSigning: Date?
    /// When this device or keychain was first used.
    package private(set) var firstSeen: Date
    /// Beginnings of other counts, by name.
    package private(set) var beginnings: [String: Date] = [:]

    /// Clocks of correctly set devices differ by minutes.
    private static let tolerance: TimeInterval = 300

    package init(clock: Date) {
        floor = clock
        lastClock = clock
        firstSeen = clock
    }

    /// The instant that counts for the end of rights.
    package func now(_ clock: Date) -> Date { max(clock, floor) }

    /// Whether the clock is earlier than the known time.
    package func isTurnedBack(_ clock: Date) -> Bool { clock < floor.addingTimeInterval(-Self.tolerance) }

    package mutating func look(at clock: Date) {
        if clock < lastClock.addingTimeInterval(-Self.tolerance) {
            let step = lastClock.timeIntervalSince(clock)
            firstSeen = firstSeen.addingTimeInterval(-step)
            beginnings = beginnings.mapValues { $0.addingTimeInterval(-step) }
            lastClock = clock
        } else {
            lastClock = max(lastClock, clock)
        }
        floor = max(floor, clock)
    }

    /// Updates the time after an artifact was signed at that instant, by a correct clock.
    ///
    /// If the artifact is newer than all earlier ones, the present is taken to be not much later than its signing. That
    /// corrects a clock that was once set years ahead. The time is never set before the signing.
    package mutating func learn(signedAt signing: Date, clock: Date) {
        guard signing > (newestSigning ?? .distantPast) else { return }
        // The first one says nothing about the clock before it.
        floor = newestSigning == nil ? max(floor, signing) : max(signing, clock)
        newestSigning = signing
    }

    /// Updates the time from the service's response to a request that was just sent.
    ///
    /// Its present replaces what was believed before, so that a service that once had a fast clock is not believed
    /// permanently. It is not earlier than what the App Store signed, nor than the clock.
    package mutating func learn(serviceTime instant: Date, clock: Date) {
        floor = max(instant, clock, newestSigning ?? .distantPast)
    }

    /// Seconds since this device was first used.
    package func age(_ clock: Date) -> TimeInterval { max(0, clock.timeIntervalSince(firstSeen)) }

    /// What has begun already goes on, from the earlier of the two.
    package mutating func begin(_ name: String, at clock: Date) {
        beginnings[name] = min(beginnings[name] ?? clock, clock)
    }

    package func elapsed(since name: String, _ clock: Date) -> TimeInterval? {
        beginnings[name].map { max(0, clock.timeIntervalSince($0)) }
    }

    /// Returns this process's knowledge of time with what others stored since `base`.
    ///
    /// Waiting counts from the earlier beginning. Both are first moved to the present clock: one process may have seen
    /// that it was turned back, and the other not.
    func merging(_ stored: DeviceTime, base: DeviceTime, at clock: Date) -> DeviceTime {
        var merged = self
        var theirs = stored
        // The later instant, unless something newly signed has shown to one process that the known one was wrong.
        if floor == base.floor {
            merged.floor = stored.floor
        } else if stored.floor != base.floor {
            merged.floor = max(floor, stored.floor)
        }
        merged.look(at: clock)
        theirs.look(at: clock)
        merged.lastClock = max(merged.lastClock, theirs.lastClock)
        merged.firstSeen = min(merged.firstSeen, theirs.firstSeen)
        merged.beginnings.merge(theirs.beginnings, uniquingKeysWith: min)
        let signings = [newestSigning, stored.newestSigning].compactMap(\.self)
        merged.newestSigning = signings.max()
        return merged
    }

    /// Counts waiting from the beginning that another place has, if that is earlier.
    mutating func countWaiting(from other: DeviceTime, at clock: Date) {
        var other = other
        other.look(at: clock)
        look(at: clock)
        firstSeen = min(firstSeen, other.firstSeen)
        floor = max(floor, other.floor)
        lastClock = max(lastClock, other.lastClock)
    }

    /// Whether the two differ by no more than the tolerance: a few minutes are not worth a write.
    func agrees(with other: DeviceTime) -> Bool {
        firstSeen == other.firstSeen && beginnings == other.beginnings && newestSigning == other.newestSigning
            && abs(floor.timeIntervalSince(other.floor)) < Self.tolerance
            && abs(lastClock.timeIntervalSince(other.lastClock)) < Self.tolerance
    }

    /// Whether no sequence of readings leads to this state, so that it must have been manipulated.
    var isImpossible: Bool {
        lastClock > floor.addingTimeInterval(Self.tolerance) && newestSigning == nil || firstSeen > lastClock
            || ![floor, lastClock, firstSeen].allSatisfy { $0.timeIntervalSinceReferenceDate.isFinite }
    }
}
