import Foundation

/// Rules A to C: the eras in which one acquisition can have happened, and what says so.
struct PossibleEras {
    private(set) var eras: EraSet
    /// Whether a version met a boundary, or a date an instant.
    private(set) var somethingWasCompared: Bool
    /// What the proofs say, in the order in which it is told.
    private(set) var findings: [Finding] = []
    /// The platforms on which the app can have been acquired.
    let timelines: [Timeline]
    private let date: Date?
    private let version: AppVersion?

    init(of acquisition: Acquisition, index: AcquisitionIndex, under policy: Policy) {
        timelines = policy.timelines.possible(for: acquisition.originalPlatform)
        date = acquisition.originalPurchaseDate
        version = acquisition.version
        findings.reserveCapacity(4)

        var versionProof = VersionProof()
        var dateEras = EraSet()
        var changeover: EraSet?
        var dateWasCompared = false
        for timeline in timelines {
            versionProof.add(timeline, version: version)
            let erasAtDate = date.map(timeline.eras(at:)) ?? timeline.allEras
            dateEras = dateEras.union(erasAtDate)
            if let date, timeline.hasDateBoundary {
                dateWasCompared = true
                if let both = timeline.changeover(at: date) { changeover = (changeover ?? EraSet()).union(both) }
            }
        }
        somethingWasCompared = dateWasCompared || versionProof.wasCompared
        eras = EraSet()

        if let changeover, let date {
            // The date's eras on the other platforms, whatever the version says.
            eras = timelines.reduce(changeover) { $1.changeover(at: date) == nil ? $0.union($1.eras(at: date)) : $0 }
            findings.append(.changeover(date, eras: eras))
        } else {
            eras = versionProof.eras.intersection(dateEras)
            if eras.isEmpty {
                let resolution = Self.resolve(versionProof, against: dateEras)
                eras = resolution.eras
                findings.append(resolution.finding)
            }
        }
        tellProofs(of: acquisition, at: index, versionProof: versionProof, dateEras: dateEras)
    }

    /// Rule C: the proofs contradict each other.
    private static func resolve(_ version: VersionProof, against date: EraSet) -> (eras: EraSet, finding: Finding) {
        if date.isWhollyEarlier(than: version.eras) { return (date, .dateBeforeVersion) }
        guard version.eras.isWhollyEarlier(than: date) else { return (date, .contradiction) }
        return version.isAuthoritative
            ? (version.eras, .versionAuthoritative) : (version.eras.union(date), .contradiction)
    }

    private mutating func tellProofs(
        of acquisition: Acquisition, at index: AcquisitionIndex, versionProof: VersionProof, dateEras: EraSet
    ) {
        if acquisition.originalAppVersion != nil {
            if version == nil {
                findings.append(.versionMalformed(index))
            } else if let platform = acquisition.originalPlatform, timelines.first?.platform == nil {
                findings.append(.platformNotInPolicy(platform))
            } else if versionProof.wasCompared {
                findings.append(.version(index, eras: versionProof.eras))
            } else {
                findings.append(versionProof.isUnlisted ? .versionNotListed(index) : .versionNotComparable(index))
            }
        } else {
            findings.append(.versionMissing)
        }
        if let date {
            findings.append(.date(date, eras: dateEras))
        } else {
            findings.append(.dateMissing)
        }
        if let preorderDate = acquisition.preorderDate { findings.append(.preorder(preorderDate)) }
    }

    /// The platforms on which the proofs allow this era: those from which the length of an honor is counted.
    func timelines(allowing era: Int) -> [Timeline] {
        guard timelines.count > 1 else { return timelines }
        let likely = timelines.filter { erasOn($0).contains(era) }
        return likely.isEmpty ? timelines.filter { $0.allEras.contains(era) } : likely
    }

    /// What the proofs say if the app was acquired on this platform.
    private func erasOn(_ timeline: Timeline) -> EraSet {
        var versionProof = VersionProof()
        versionProof.add(timeline, version: version)
        guard let date else { return versionProof.eras }
        if let both = timeline.changeover(at: date) { return both }
        let dateEras = timeline.eras(at: date)
        let common = versionProof.eras.intersection(dateEras)
        return common.isEmpty ? Self.resolve(versionProof, against: dateEras).eras : common
    }
}
