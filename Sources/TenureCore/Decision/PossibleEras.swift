import Foundation

/// Rule C of Docs/decision-rules.md: the eras (periods with one business model) in which the customer can have got the
/// app, by the version and the date together.
struct PossibleEras {
    let version: VersionProof
    let date: DateProof
    /// The possible eras, without the eras that the exception in rule C1 adds (see `erasOfBoth`).
    let eras: EraSet
    /// How version and date contradict each other. Nil if they don't, or if the date is in a changeover window: a time
    /// in which price and version can disagree.
    let contradiction: Finding?

    init(version: VersionProof, date: DateProof) {
        self.version = version
        self.date = date
        let (joined, contradiction) = Self.join(version, date)
        let isInWindow = !date.windowEras.isEmpty
        // A window adds eras and never removes an era.
        eras = isInWindow ? joined.union(date.windowEras).union(date.eras) : joined
        self.contradiction = isInWindow ? nil : contradiction
    }

    /// Rule C1, without the exception: returns the possible eras, and the contradiction if the proofs have no common
    /// era.
    private static func join(_ version: VersionProof, _ date: DateProof) -> (EraSet, Finding?) {
        let common = version.eras.intersection(date.eras)
        if !common.isEmpty { return (common, nil) }
        // An early date implies an early acquisition.
        if date.eras.isWhollyEarlier(than: version.eras) { return (date.eras, .dateBeforeVersion) }
        // If neither proof is wholly earlier than the other, the date decides.
        guard version.eras.isWhollyEarlier(than: date.eras) else { return (date.eras, .contradiction) }
        return version.isAuthoritative
            ? (version.eras, .versionAuthoritative) : (version.eras.union(date.eras), .contradiction)
    }

    /// Whether the version overrode a later date.
    var isVersionAuthoritative: Bool { contradiction == .versionAuthoritative }
    /// The possible eras if the exception in rule C1 applies: those of the version, although it overrode the date, and
    /// those of the date.
    var erasOfBoth: EraSet { eras.union(date.eras) }
}

/// Rule A of Docs/decision-rules.md: the eras (periods with one business model) in which a version can have been
/// acquired, on one platform or on several.
struct VersionProof {
    /// The eras in which the version can have been acquired: every era if the version proves nothing.
    private(set) var eras = EraSet()
    /// Whether the version was compared with the beginning of an era, on at least one platform.
    private(set) var wasCompared = false
    /// Rule C2: whether the version overrides a contradicting date, on every possible platform.
    private(set) var isAuthoritative = true
    /// Whether a platform has a release list without this version.
    private(set) var isUnlisted = false

    /// Creates a proof without eras. `unite(with:)` then adds the proof of each platform.
    init() {}

    /// Creates the proof on one platform.
    init(of version: AppVersion?, on timeline: Timeline) {
        // A version proves nothing if it is missing, malformed, not in the release list, or not comparable.
        eras = timeline.eras
        isAuthoritative = false
        guard let version else { return }
        if let list = timeline.erasOfRelease {
            guard let listed = list[version] else {
                isUnlisted = true
                return
            }
            eras = listed
            wasCompared = timeline.hasReleaseBoundary
            isAuthoritative = (listed.count == 1 || timeline.versionsRise) && !timeline.inherits
        } else if timeline.versionsRise {
            eras = timeline.eras(enclosing: version)
            wasCompared = timeline.hasVersionBoundary
            isAuthoritative = !timeline.inherits
        }
    }

    /// Adds the proof on another platform on which the app can have been acquired.
    mutating func unite(with other: VersionProof) {
        eras = eras.union(other.eras)
        wasCompared = wasCompared || other.wasCompared
        isAuthoritative = isAuthoritative && other.isAuthoritative
        isUnlisted = isUnlisted || other.isUnlisted
    }
}

/// Rules B and C3 of Docs/decision-rules.md: the eras (periods with one business model) that contain a purchase date,
/// on one platform or on several.
struct DateProof {
    /// The eras that contain the date, without changeover windows.
    private(set) var eras = EraSet()
    /// The eras before and after each changeover window that contains the date. Price and version of the app may not
    /// match in such a window, so both eras are possible.
    private(set) var windowEras = EraSet()
    /// Whether the date was compared with the date at which an era begins, on at least one platform.
    private(set) var wasCompared = false

    /// Creates a proof without eras. `unite(with:)` then adds the proof of each platform.
    init() {}

    /// Creates the proof on one platform. A missing date allows every era.
    init(of date: Date?, on timeline: Timeline) {
        guard let date else {
            eras = timeline.eras
            return
        }
        eras = timeline.eras(at: date)
        windowEras = timeline.changeover(at: date)
        wasCompared = timeline.hasDateBoundary
    }

    /// Adds the proof on another platform on which the app can have been acquired.
    mutating func unite(with other: DateProof) {
        eras = eras.union(other.eras)
        windowEras = windowEras.union(other.windowEras)
        wasCompared = wasCompared || other.wasCompared
    }
}
