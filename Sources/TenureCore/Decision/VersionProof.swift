/// Rule A: the eras in which a version can have been acquired, united over the platforms where that may have been.
struct VersionProof {
    private(set) var eras = EraSet()
    /// Whether the version met a boundary on some platform.
    private(set) var wasCompared = false
    /// Whether the version is to be believed on every platform, should the date contradict it.
    private(set) var isAuthoritative = true
    /// Whether some platform has a release list, and not this version in it.
    private(set) var isUnlisted = false

    mutating func add(_ timeline: Timeline, version: AppVersion?) {
        guard let version else { return provesNothing(on: timeline) }
        if let list = timeline.erasOfRelease {
            guard let listed = list[version] else {
                isUnlisted = true
                return provesNothing(on: timeline)
            }
            eras = eras.union(listed)
            wasCompared = wasCompared || timeline.releasesMeetBoundary
            if listed.count != 1 && !timeline.versionsRise { isAuthoritative = false }
        } else if timeline.versionsRise {
            eras = eras.union(timeline.eras(enclosing: version))
            wasCompared = wasCompared || timeline.hasVersionBoundary
        } else {
            provesNothing(on: timeline)
        }
    }

    private mutating func provesNothing(on timeline: Timeline) {
        eras = eras.union(timeline.allEras)
        isAuthoritative = false
    }
}
