/// What kind of process this is, and what that allows.
package struct HostProcess: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case app
        /// An extension or a widget.
        case appExtension
        case appClip
        /// A watch app of an app on the iPhone. A watch app without one is an app.
        case watchApp
    }

    package let kind: Kind
    /// `CFBundleIdentifier`; nil if there is no bundle, as on Linux.
    package let bundleID: String?
    /// The bundle ID of the app that this process is part of: its own, if it is the app.
    let containingBundleID: String?
    /// The bundle ID of the app on the iPhone, for a watch app and its extensions.
    let companionBundleID: String?

    init(
        _ kind: Kind, bundleID: String?, containingBundleID: String? = nil, companionBundleID: String? = nil
    ) {
        self.kind = kind
        self.bundleID = bundleID
        self.containingBundleID = containingBundleID ?? (kind == .app ? bundleID : nil)
        self.companionBundleID = companionBundleID
    }

    /// Returns the same process with the bundle ID that the store reports.
    package func identified(as bundleID: String?) -> HostProcess {
        HostProcess(
            kind, bundleID: bundleID, containingBundleID: kind == .app ? nil : containingBundleID,
            companionBundleID: companionBundleID)
    }

    /// Whether an artifact about the app with this bundle ID counts in this process. Every comparison of bundle IDs
    /// asks this.
    ///
    /// StoreKit names the containing app to its extensions. Their bundle IDs extend its own, which decides if the
    /// containing app is unknown, as in an App Clip. For an app, a bundle ID that its own extends is another app's.
    func accepts(bundleID other: String) -> Bool {
        guard let bundleID, bundleID != other else { return true }
        if kind == .appExtension || kind == .watchApp {
            let apps = [containingBundleID, companionBundleID].compactMap(\.self).filter { $0 != bundleID }
            if !apps.isEmpty { return apps.contains(other) }
        }
        return kind != .app && !other.isEmpty && bundleID.hasPrefix(other + ".") && bundleID.count > other.count + 1
    }

    /// Only the app finishes transactions: it delivers what they bought.
    var mayFinishTransactions: Bool { kind == .app }

    /// Whether this process may show a sign-in. Only the app may: a widget isn't in front of a person.
    var mayPrompt: Bool { kind == .app }

    var mayBuy: Bool { kind == .app }

    var mayShareKeychain: Bool { kind != .appClip }

    /// Throws the reason if this process cannot buy.
    func checkMayBuy() throws(HostLimit) {
        guard mayBuy else { throw HostLimit(kind: kind, action: .buy) }
    }

    /// Throws the reason if this process cannot restore purchases.
    func checkMayPrompt() throws(HostLimit) {
        guard mayPrompt else { throw HostLimit(kind: kind, action: .restore) }
    }
}

/// An operation that only the app may do.
package struct HostLimit: Error, Sendable, Hashable, CustomStringConvertible {
    enum Action: String, Sendable, Hashable {
        case buy = "buy"
        case restore = "restore purchases"
    }

    package let kind: HostProcess.Kind
    let action: Action

    package var description: String { "\(problem); \(kind.advice)" }

    var problem: String { "\(kind.noun) cannot \(action.rawValue)" }
}

extension HostProcess.Kind {
    fileprivate var noun: String {
        switch self {
        case .app: "the app"
        case .appExtension: "an extension"
        case .appClip: "an App Clip"
        case .watchApp: "the watch app"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .app, .appExtension: "open the app for it"
        case .appClip: "offer the full app with `SKOverlay`"
        case .watchApp: "open the app on the iPhone for it"
        }
    }
}
