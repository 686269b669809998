import TenureCore

/// A range of versions, with their texts as signed.
struct VersionRange: Sendable, Hashable {
    private(set) var lowest: AppVersion
    private(set) var highest: AppVersion

    init(_ version: AppVersion) {
        lowest = version
        highest = version
    }

    /// Returns the range from the lowest to the highest version of both ranges.
    func joined(with other: VersionRange?) -> VersionRange {
        guard let other else { return self }
        var joined = self
        if Self.precedes(other.lowest, lowest) { joined.lowest = other.lowest }
        if Self.precedes(highest, other.highest) { joined.highest = other.highest }
        return joined
    }

    /// Orders versions, and also different texts of the same version, such as `1` and `1.0`. So the order of customers
    /// doesn't matter.
    private static func precedes(_ left: AppVersion, _ right: AppVersion) -> Bool {
        left != right ? left < right : left.description < right.description
    }

    /// Returns the range for a sentence, such as `builds 100–119` or `version 1.9`.
    func phrase(on platform: Platform?) -> String {
        let noun = platform?.versionKey.rawValue ?? "version"
        let (first, last) = (lowest.description.shortenedVersion, highest.description.shortenedVersion)
        return lowest == highest ? "\(noun) \(first)" : "\(noun)s \(first)–\(last)"
    }
}

extension String {
    /// The version, shortened if it is very long. Apple's build numbers have at most 18 characters.
    var shortenedVersion: String { count > 24 ? prefix(23) + "…" : self }
}
