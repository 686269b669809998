import TenureCore

/// Divides all original versions (on iOS, builds) into classes, so that `RightsComparison` can compare two policies
/// without trying every version. Each policy treats all versions of a class alike, so one version of each is enough.
struct VersionClasses {
    /// One class: some versions, or an unknown version.
    struct Class {
        /// The version to try; nil for the class of an unknown version.
        let representative: AppVersion?
        /// The indexes in `points` of the versions that belong to the class.
        var points: [Int]
    }

    /// The classes. The last one is the class of an unknown version.
    private(set) var classes: [Class] = []
    /// The versions that are tried, in ascending order. If all existing releases are known, these are their versions.
    /// Otherwise they are the versions in the policies, and one version of each gap: below the first of these versions,
    /// and above each.
    private let points: [Point]
    /// Whether a release list limits the versions that exist.
    private let hasList: Bool
    /// The word for a version of the platform in messages: `build`, `version` or, for receipts, `number`.
    private let noun: String

    /// One version in a policy or a release list, or a *gap*: all versions between two such versions.
    private struct Point {
        /// The version that is tried. For a gap, one version in it.
        let version: AppVersion
        /// The version in the policy or the list. For a gap, the version just below it; nil if the gap begins with
        /// zero.
        let number: AppVersion?
        let isGap: Bool
    }

    /// Collects the versions of the releases or, if there is no list, the versions in the policies. Groups versions
    /// that prove the same eras.
    ///
    /// - Parameters:
    ///   - timelines: the eras (`Era`) of both policies on one platform.
    ///   - platform: the platform; nil for receipts, which contain no platform.
    ///   - existing: the builds or versions of all releases; nil if there is no release list.
    init(timelines: [Timeline], platform: Platform?, existing: Set<AppVersion>? = nil) {
        noun = platform.map(\.versionKey.rawValue) ?? "number"
        let listedVersions = timelines.compactMap(\.erasOfRelease).flatMap(\.keys)
        hasList = existing != nil || !listedVersions.isEmpty
        let policyVersions = Set(timelines.flatMap(\.beginnings).compactMap { $0?.version } + listedVersions)
        let numbers = (existing ?? policyVersions).sorted()
        var points: [Point] = []
        if existing == nil, let zero = AppVersion("0"), numbers.first.map({ zero < $0 }) ?? true {
            points.append(Point(version: zero, number: nil, isGap: true))
        }
        for number in numbers {
            points.append(Point(version: number, number: number, isGap: false))
            // Use a version that is lower than any other version in the gap.
            if existing == nil, let above = AppVersion("\(number).0.0.0.0.1") {
                points.append(Point(version: above, number: number, isGap: true))
            }
        }
        self.points = points
        var classIndexes: [[EraSet?]: Int] = [:]
        for (index, point) in points.enumerated() {
            // The eras that the version proves under both policies. Versions that prove the same eras are in one class.
            let signature: [EraSet?] =
                timelines.map { $0.erasOfRelease?[point.version] }
                + timelines.map { $0.versionsRise ? $0.eras(enclosing: point.version) : nil }
            if let classIndex = classIndexes[signature] {
                classes[classIndex].points.append(index)
            } else {
                classIndexes[signature] = classes.count
                classes.append(Class(representative: point.version, points: [index]))
            }
        }
        classes.append(Class(representative: nil, points: []))
    }

    /// Describes the classes with these indexes for a message, such as `build 37, 90`; nil if these are all classes.
    func inWords(_ chosen: [Int]) -> String? {
        guard chosen.count < classes.count else { return nil }
        let indices = chosen.flatMap { classes[$0].points }.sorted()
        let isUnknownToo = chosen.contains { classes[$0].representative == nil }
        let unknown = isUnknownToo ? ["an unknown \(noun)"] : []
        guard !indices.isEmpty else { return unknown.first }
        if indices.count == points.count { return "any \(noun)" }
        guard hasList else { return (ranges(indices) + unknown).joined(separator: " or ") }
        // With a release list, numbers between two releases don't exist.
        let numbers = indices.filter { !points[$0].isGap }.compactMap { points[$0].number?.description }
        let text =
            numbers.isEmpty
            ? "a \(noun) that isn't in the release list"
            : numbers.count > 12
                ? "one of \(numbers.count) \(noun)s from \(numbers[0]) to \(numbers[numbers.count - 1])"
                : "\(noun) \(numbers.joined(separator: ", "))"
        return ([text] + unknown).joined(separator: " or ")
    }

    /// Describes the points with these indexes as ranges, such as "a build from 37 to below 120".
    private func ranges(_ indices: [Int]) -> [String] {
        indices.runs.map { run in
            let first = points[run.lowerBound]
            let last = points[run.upperBound]
            let next = run.upperBound + 1 < points.count ? points[run.upperBound + 1].number : nil
            guard let start = first.number else {
                return last.isGap ? "a \(noun) below \(next.map { "\($0)" } ?? "")" : "a \(noun) up to \(last.version)"
            }
            switch (first.isGap, last.isGap) {
            case (false, true): return "a \(noun) from \(start) \(next.map { "to below \($0)" } ?? "up")"
            case (true, true): return "a \(noun) \(next.map { "between \(start) and \($0)" } ?? "above \(start)")"
            case (true, false): return "a \(noun) above \(start), up to \(last.version)"
            case (false, false):
                return run.count == 1 ? "\(noun) \(start)" : "a \(noun) from \(start) to \(last.version)"
            }
        }
    }
}

extension [Int] {
    /// The sorted numbers as ranges of adjacent numbers.
    var runs: [ClosedRange<Int>] {
        reduce(into: []) { runs, number in
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
    }
}
