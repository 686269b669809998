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
