import Foundation
import TenureCore

/// The change of business model that matters to customers who already paid, on one platform. `ReadyMadePersonas` makes
/// test customers who got the app before and after the change.
///
/// The policy divides time into eras, periods with one business model each. An entitlement honors an era if customers
/// who got the app in that era have the entitlement. The change is the last one from an era that some entitlement
/// honors to an era that the same entitlement doesn't honor. Without such a change, it is the last change from one era
/// to the next.
struct PolicyChange {
    let platform: Platform
    /// The era before the change.
    let era: Era
    /// The first version of the era after the change, in the form that the App Store reports on this platform; nil if
    /// the policy has none.
    let version: AppVersion?
    /// The date at which the era after the change began; nil if the policy has none.
    let date: Date?
    /// The changeover window around `date`, in which customers may have got the app under either business model. `from`
    /// and `until` are seconds after `date`; before `date`, they are negative. Nil if the policy has no window.
    let window: (from: TimeInterval, until: TimeInterval)?
    private let policy: Policy
    /// The index of the era after the change.
    private let nextEraIndex: Int

    /// Finds the change in a policy. Nil if the app's business model never changed on the platform.
    init?(of policy: Policy, on platform: Platform) {
        let eras = policy.eras
        // The era in which the app first appeared on the platform. Only later eras are changes.
        let firstEra = eras.indices.last { Self.beginning(of: eras[$0], on: platform) == .new } ?? 0
        let changes = eras.indices.filter { $0 > firstEra && Self.beginning(of: eras[$0], on: platform) != nil }
        func isHonored(_ era: Era, by entitlement: Entitlement) -> Bool {
            (entitlement.honors ?? []).contains { $0.era == era.name }
        }
        let lastLoss = changes.last { index in
            policy.entitlements.contains { isHonored(eras[index - 1], by: $0) && !isHonored(eras[index], by: $0) }
        }
        guard let index = lastLoss ?? changes.last,
            let beginning = Self.beginning(of: eras[index], on: platform)
        else { return nil }
        self.policy = policy
        self.nextEraIndex = index
        self.platform = platform
        era = eras[index - 1]
        version = beginning.version
        window = eras[index].changeover?.window
        date = beginning.date ?? Self.listedDate(of: beginning.version, on: platform, in: policy)
    }

    /// How the era began on the platform; nil if it didn't begin there. tvOS, watchOS and visionOS inherit this from
    /// iOS (rule A8 in Docs/decision-rules.md).
    private static func beginning(of era: Era, on platform: Platform) -> Beginning? {
        era.begins[platform] ?? (platform.inheritsFromIOS ? era.begins[.iOS] : nil)
    }

    /// The date of a version in the policy's list of releases; nil if the list doesn't have the version or its date.
    private static func listedDate(of version: AppVersion?, on platform: Platform, in policy: Policy) -> Date? {
        guard let version else { return nil }
        return releases(of: policy, on: platform).first { $0.originalAppVersion == version }?.releasedAt.date
    }

    /// The platform's releases in the policy, the oldest first.
    private static func releases(of policy: Policy, on platform: Platform) -> [Release] {
        let own = policy.releases.filter { $0.platform == platform }
        let list = (own.isEmpty && platform.inheritsFromIOS) ? policy.releases.filter { $0.platform == .iOS } : own
        // A list with undated releases already has the oldest first.
        if list.contains(where: { $0.releasedAt == .undated }) { return list }
        return list.sorted { ($0.releasedAt.date ?? .distantPast) < ($1.releasedAt.date ?? .distantPast) }
    }

    // MARK: Customers before and after the change

    private static let day: TimeInterval = 86_400

    /// A purchase date in the era before the change, outside the changeover window. Nil if the policy has no date for
    /// the change.
    var dateBefore: Date? {
        guard let date else { return nil }
        let end = date.addingTimeInterval(min(0, window?.from ?? 0))
        let dayBefore = end.addingTimeInterval(-Self.day)
        // If the era is shorter than a day, the date is the middle of the era.
        guard let begin = Self.beginning(of: era, on: platform)?.date, begin >= dayBefore else { return dayBefore }
        return Date(timeIntervalSince1970: (begin.timeIntervalSince1970 + end.timeIntervalSince1970) / 2)
    }

    /// A purchase date in the era after the change, outside the changeover window. Nil if the policy has no date for
    /// the change.
    var dateAfter: Date? {
        guard let date else { return nil }
        let begin = date.addingTimeInterval(max(0, window?.until ?? 0))
        let dayAfter = begin.addingTimeInterval(Self.day)
        // If the next era begins within a day, the date is the middle of the era.
        let next = policy.eras.indices.contains(nextEraIndex + 1) ? policy.eras[nextEraIndex + 1] : nil
        guard let end = next.flatMap({ Self.beginning(of: $0, on: platform)?.date }), end <= dayAfter else {
            return dayAfter
        }
        return Date(timeIntervalSince1970: (begin.timeIntervalSince1970 + end.timeIntervalSince1970) / 2)
    }

    /// The last version before the change: from the policy's list of releases, or else `predecessor` of the first
    /// version after the change. Nil if the policy has no version for the change.
    var versionBefore: String? {
        guard let version else { return nil }
        let listed = Self.releases(of: policy, on: platform).compactMap(\.originalAppVersion)
        if let index = listed.firstIndex(of: version), index > 0 { return listed[index - 1].description }
        let text = Self.predecessor(of: version)
        guard let begin = Self.beginning(of: era, on: platform)?.version,
            let predecessor = text.flatMap({ AppVersion($0) })
        else { return text }
        // The version just below may be older than the era.
        return predecessor < begin ? begin.description : text
    }

    /// The app's first version on this platform and its date: from the policy's list of releases, or else version 1 and
    /// a date a year before the first change. Each is nil if it is unknown.
    var first: (version: String?, date: Date?) {
        if let release = Self.releases(of: policy, on: platform).first {
            return (release.originalAppVersion?.description, release.releasedAt.date)
        }
        let beginnings = policy.eras.compactMap { Self.beginning(of: $0, on: platform) }.filter { $0 != .new }
        let text = platform.versionKey == .shortVersionString ? "1.0" : "1"
        let firstChange = beginnings.lazy.compactMap(\.version).first
        // Version 1 is a guess, which is wrong if the first change came with version 1 or earlier.
        let isBeforeChange = if let firstChange { AppVersion(text).map { $0 < firstChange } ?? false } else { true }
        let dateOfFirstChange = beginnings.lazy.compactMap(\.date).first
        return (isBeforeChange ? text : nil, dateOfFirstChange?.addingTimeInterval(-365 * Self.day))
    }

    /// The version just below another version: 119 for 120, 1.9 for 2.0. Nil for a version of zeros.
    static func predecessor(of version: AppVersion) -> String? {
        var components = version.description.split(separator: ".").map(String.init)
        guard let last = components.lastIndex(where: { $0.contains { $0 != "0" } }),
            let number = Int(components[last])
        else { return nil }
        components[last] = String(number - 1)
        for later in components.indices where later > last { components[later] = "9" }
        return components.joined(separator: ".")
    }
}

extension Release.Moment {
    /// The date of the release. A day means its midnight in UTC. Nil for a release without a date.
    fileprivate var date: Date? {
        switch self {
        case .instant(let date): date
        case .day(let day): day.midnight
        case .undated: nil
        }
    }
}
