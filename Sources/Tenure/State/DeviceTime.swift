import Foundation

/// The time as this device knows it. The device's clock alone isn't reliable, because customers can set it.
///
/// - For the end of a right, time never runs backward: setting the clock back doesn't extend a right. Only two things
///   can show that the clock was wrong before: a newer artifact (a value that the App Store signed, such as a
///   transaction), and the time in a response of the service.
/// - For periods such as a grace period, the beginning is stored. If the clock is set back, the stored beginnings move
///   back by the same amount. So the time that has already passed isn't lost, and setting the clock far ahead and back
///   doesn't stop a period.
struct DeviceTime: Sendable, Hashable, Codable {
    /// The latest time that this device has observed.
    private(set) var floor: Date
    /// The time on the clock when it was last read. If the clock was set back, this is earlier than `floor`.
    private(set) var lastClock: Date
    /// The date at which the App Store signed the newest artifact. Nil before the first artifact.
    private(set) var newestSigning: Date?
    /// The time when Tenure was first used with this stored state. The grace period begins at this time.
    private(set) var firstSeen: Date
    /// The beginnings of other periods, by name.
    private(set) var beginnings: [String: Date] = [:]

    /// The difference of two correctly set clocks that is accepted, in seconds.
    static let tolerance: TimeInterval = 300

    init(clock: Date) {
        floor = clock
        lastClock = clock
        firstSeen = clock
    }

    /// Returns the time that decides whether a right has ended.
    func now(_ clock: Date) -> Date { max(clock, floor) }

    /// Whether the clock is earlier than the latest observed time, by more than the tolerance.
    func isTurnedBack(_ clock: Date) -> Bool { clock < floor.addingTimeInterval(-Self.tolerance) }

    /// Records the time of the clock. If the clock was set back, moves the beginnings of periods back, too.
    mutating func observe(clock: Date) {
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

    /// Updates the time with the signing date of an artifact, which is from a correct clock.
    ///
    /// If the artifact is newer than all earlier artifacts, the current time is assumed to be shortly after its signing
    /// date. This assumption corrects the known time if the clock was once set years ahead. The time is never set
    /// before the signing date.
    mutating func update(signedAt signing: Date, clock: Date) {
        guard signing > (newestSigning ?? .distantPast) else { return }
        // The first artifact can't show that an earlier clock was wrong.
        floor = newestSigning == nil ? max(floor, signing) : max(signing, clock)
        newestSigning = signing
    }

    /// Updates the time from the service's response to a request that was just sent.
    ///
    /// The service's time replaces the known time, so that one response by a service with a fast clock has no permanent
    /// effect. The time is never set before the latest signing date of an artifact, or before the clock.
    mutating func update(serviceTime instant: Date, clock: Date) {
        floor = max(instant, clock, newestSigning ?? .distantPast)
    }

    /// Returns the seconds since `firstSeen`.
    func age(_ clock: Date) -> TimeInterval { max(0, clock.timeIntervalSince(firstSeen)) }

    /// Begins a period. If it has already begun, the earlier beginning is kept.
    mutating func begin(_ name: String, at clock: Date) { beginnings[name] = min(beginnings[name] ?? clock, clock) }

    /// Returns the seconds since a period began. Nil if it hasn't begun.
    func elapsed(since name: String, _ clock: Date) -> TimeInterval? {
        beginnings[name].map { max(0, clock.timeIntervalSince($0)) }
    }

    /// Returns this process's time, merged with the changes that other processes have stored since `base`.
    ///
    /// Each period begins at the earlier of its two beginnings. If the clock was set back, both beginnings are moved
    /// first: perhaps only one of the two processes has moved its beginning already.
    func merging(_ stored: DeviceTime, base: DeviceTime, at clock: Date) -> DeviceTime {
        var merged = self
        var theirs = stored
        // Use the time that changed since `base`, which may be the earlier one: perhaps a newer artifact has corrected
        // it. If both changed, use the later time.
        if floor == base.floor {
            merged.floor = stored.floor
        } else if stored.floor != base.floor {
            merged.floor = max(floor, stored.floor)
        }
        merged.observe(clock: clock)
        theirs.observe(clock: clock)
        merged.lastClock = max(merged.lastClock, theirs.lastClock)
        merged.firstSeen = min(merged.firstSeen, theirs.firstSeen)
        merged.beginnings.merge(theirs.beginnings, uniquingKeysWith: min)
        merged.newestSigning = [newestSigning, stored.newestSigning].compactMap(\.self).max()
        return merged
    }

    /// Adds what another state has observed: its `firstSeen` if that is earlier, and its latest times if they are
    /// later. So the time that has passed since the other state began counts as part of the grace period.
    mutating func countWaiting(from other: DeviceTime, at clock: Date) {
        var other = other
        other.observe(clock: clock)
        observe(clock: clock)
        firstSeen = min(firstSeen, other.firstSeen)
        floor = max(floor, other.floor)
        lastClock = max(lastClock, other.lastClock)
    }

    /// Whether this time differs from another so little that it needn't be stored: by less than the tolerance.
    func agrees(with other: DeviceTime) -> Bool {
        firstSeen == other.firstSeen && beginnings == other.beginnings && newestSigning == other.newestSigning
            && abs(floor.timeIntervalSince(other.floor)) < Self.tolerance
            && abs(lastClock.timeIntervalSince(other.lastClock)) < Self.tolerance
    }

    /// Whether these values contradict each other, which happens only if the stored state was manipulated.
    var isImpossible: Bool {
        // Only the signing date of an artifact can set `floor` to a time before `lastClock`.
        (lastClock > floor.addingTimeInterval(Self.tolerance) && newestSigning == nil) || firstSeen > lastClock
            || ![floor, lastClock, firstSeen].allSatisfy { $0.timeIntervalSinceReferenceDate.isFinite }
    }
}
