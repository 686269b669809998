import TenureCore

/// How a customer got the app, as reports group customers: on which platform, with which version, and in which month.
/// Customers with the same place are in the same rows of tables and bars of charts.
struct Place: Sendable, Hashable {
    /// The version in which a customer got the app, as reports show it.
    enum Version: Sendable, Hashable, CustomStringConvertible {
        /// The version is unknown.
        case none
        /// The version is malformed. All malformed versions share one row.
        case malformed
        /// The version as signed, without surrounding blanks.
        case version(String)
        /// A version that isn't counted separately, because there are too many or because it is very long.
        case other

        var description: String {
            switch self {
            case .none: "none"
            case .malformed: "malformed"
            case .version(let text): text
            case .other: "other"
            }
        }

        /// The version in a row, shortened if it is very long.
        var title: String { description.shortenedVersion }

        /// Whether this version comes first if versions are sorted in ascending order. Unknown, malformed and other
        /// versions come last.
        func precedes(_ other: Place.Version) -> Bool {
            switch (self, other) {
            case (.version(let mine), .version(let others)):
                guard let left = AppVersion(mine), let right = AppVersion(others), left != right else {
                    return mine < others
                }
                return left < right
            case (.version, _): return true
            case (_, .version): return false
            default: return description < other.description
            }
        }
    }

    /// The platform; nil if it is unknown.
    let platform: Platform?
    let version: Version
    let month: Month

    /// The place with the same platform and month, and the version `other`.
    var ofAnyVersion: Place { Place(platform: platform, version: .other, month: month) }

    /// A hash that is the same in every run.
    var stableHash: UInt64 {
        var hash = StableHash(seed: UInt64(bitPattern: Int64(month.index)))
        hash.add(platform?.rawValue ?? "")
        if case .version(let text) = version { hash.add(text) }
        return hash.value
    }
}

extension Place {
    /// The place of the customer's first acquisition. Without an acquisition, platform, version and month are unknown.
    init(of evidence: Evidence) {
        let acquisition = evidence.acquisitions.first
        platform = acquisition?.originalPlatform
        month = Month(of: acquisition?.originalPurchaseDate)
        if let version = acquisition?.version {
            // A version may have a thousand digits. Such versions are counted as `other`.
            self.version = version.description.utf8.count <= 32 ? .version(version.description) : .other
        } else {
            version = acquisition?.originalAppVersion == nil ? .none : .malformed
        }
    }

    /// Whether this place comes first if places are sorted by platform, version and month.
    func precedes(_ other: Place) -> Bool {
        // An unknown platform comes last.
        let (mine, others) = (platform?.rawValue ?? "~", other.platform?.rawValue ?? "~")
        if mine != others { return mine < others }
        if version != other.version { return version.precedes(other.version) }
        return month < other.month
    }

    var platformName: String { platform?.rawValue ?? "unknown" }

    /// Whether the place has a known version, and not “other”. Only versions can be many: platforms and months are few.
    var hasVersion: Bool { if case .version = version { true } else { false } }
}
