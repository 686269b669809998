public import Foundation

/// A period in which the app had one business model.
public struct Era: Sendable, Hashable {
    /// How customers got the app in an era.
    public enum Model: String, Sendable, Hashable, CaseIterable {
        /// The app was sold for a price.
        case paid
        /// The app was free to get, with or without purchases inside.
        case free
    }

    /// The name in the policy. Entitlements list it under `honors` to give something to the era's customers.
    public let name: String
    /// How customers got the app in this era.
    public let model: Model
    /// Where the era begins on each platform. Empty for the first era, which has no beginning.
    public let begins: [Platform: Beginning]
    /// The time around each beginning in which price and version can disagree. Nil if the policy doesn't state it.
    public let changeover: Changeover?

    /// Any values are accepted. `Policy` reports an era without a name or beginning, and eras in the wrong order.
    public init(name: String, model: Model, begins: [Platform: Beginning] = [:], changeover: Changeover? = nil) {
        self.name = name
        self.model = model
        self.begins = begins
        self.changeover = changeover
    }
}

/// Where an era begins on a platform.
public enum Beginning: Sendable, Hashable {
    /// The first version (a build, except on macOS) and the first date of the era. If one of the two is nil, only the
    /// other separates the era from the earlier era.
    case at(version: AppVersion?, date: Date?)
    /// The app came to the platform in this era, so it can't have been acquired there before (rule A7 of
    /// Docs/decision-rules.md).
    case new

    /// The era's first version. Nil for `new`, and if the policy states only a date.
    package var version: AppVersion? { if case .at(let version, _) = self { version } else { nil } }

    /// The era's first date. Nil for `new`, and if the policy states only a version.
    package var date: Date? { if case .at(_, let date) = self { date } else { nil } }
}

/// The time around a change of the business model in which a customer may have got the old price with the new version,
/// or the reverse. The App Store doesn't change price, storefronts and binary at the same time.
public enum Changeover: Sendable, Hashable {
    /// Price and version changed at the same time: `changeover: none` in the policy.
    case noWindow
    /// The window in seconds, both ends included: from before the beginning (`from`, not positive) until after it
    /// (`until`, not negative).
    case window(from: TimeInterval, until: TimeInterval)

    /// The window. Nil if the policy has `changeover: none`.
    package var window: (from: TimeInterval, until: TimeInterval)? {
        if case .window(let from, let until) = self { (from, until) } else { nil }
    }
}
