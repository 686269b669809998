import Foundation
import TenureCore
import TenurePolicyFile

/// Divides original versions into classes. Two policies treat all versions of a class alike. Each class has one version
/// as its example.
struct VersionClasses {
    /// One class: some versions, or an unknown version.
    struct Class {
        /// The example; nil for the class of an unknown version.
        let representative: AppVersion?
        /// The indexes in `points` of the versions that belong to the class.
        var points: [Int]
    }

    private(set) var classes: [Class] = []
    /// The points in ascending order. If all existing releases are known, the points are their versions. Otherwise the
    /// points are the versions in the policies, the gap above each version, and the gap that begins with zero.
    private let points: [Point]
    /// Whether a release list limits the versions that exist.
    private let hasList: Bool
    /// The word for a version of the platform in messages: `build`, `version` or, for receipts, `number`.
    private let noun: String

    /// One version in a policy or a release list, or a *gap*: all versions between two neighboring points.
    private struct Point {
        /// The version with which this point is tested.
        let version: AppVersion
        /// The version in the policy or the list. For a gap, the version just below it, or nil if the gap begins with
        /// zero.
        let number: AppVersion?
        let isGap: Bool
    }

    /// Collects the versions of the releases or, if there is no list, the versions in the policies. Groups versions
    /// that prove the same eras.
    ///
    /// - Parameter existing: the builds or versions of all releases; nil if there is no list.
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
        var classIndexes: [Signature: Int] = [:]
        for (index, point) in points.enumerated() {
            let signature = Signature(point.version, on: timelines)
            if let classIndex = classIndexes[signature] {
                classes[classIndex].points.append(index)
            } else {
                classIndexes[signature] = classes.count
                classes.append(Class(representative: point.version, points: [index]))
            }
        }
        classes.append(Class(representative: nil, points: []))
    }

    /// Everything about a version that its proof depends on.
    private struct Signature: Hashable {
        let listed: [EraSet?]
        let enclosing: [EraSet]

        init(_ version: AppVersion, on timelines: [Timeline]) {
            listed = timelines.map { $0.erasOfRelease?[version] }
            enclosing = timelines.map { $0.versionsRise ? $0.eras(enclosing: version) : EraSet() }
        }
    }

    /// Describes the classes with these indexes for a message; nil if these are all classes.
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
