/// Rule C of Docs/decision-rules.md: the eras (periods with one business model) in which the customer can have got the
/// app, by the version and the date together.
struct PossibleEras {
    let version: VersionProof
    let date: DateProof
    /// The possible eras, without the eras that the exception in rule C1 adds (see `erasOfBoth`).
    let eras: EraSet
    /// How version and date contradict each other. Nil if they don't, or if the date is in a changeover window: a time
    /// in which price and version may not match.
    let contradiction: Finding?

    init(version: VersionProof, date: DateProof) {
        self.version = version
        self.date = date
        let (joined, contradiction) = Self.join(version, date)
        if date.windowEras.isEmpty {
            eras = joined
            self.contradiction = contradiction
        } else {
            // A window adds eras and never removes an era.
            eras = joined.union(date.windowEras).union(date.eras)
            self.contradiction = nil
        }
    }

    /// Rule C1, without the exception: returns the possible eras, and the contradiction if the proofs have no common
    /// era.
    private static func join(_ version: VersionProof, _ date: DateProof) -> (EraSet, Finding?) {
        let common = version.eras.intersection(date.eras)
        if !common.isEmpty { return (common, nil) }
        // An early date implies an early acquisition.
        if date.eras.isWhollyEarlier(than: version.eras) { return (date.eras, .dateBeforeVersion) }
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
