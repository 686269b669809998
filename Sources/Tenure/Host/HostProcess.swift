/// The kind of process in which the client runs, and what the client may do in it.
package struct HostProcess: Sendable, Hashable {
    /// The kinds of processes.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case app
        /// An extension or a widget.
        case appExtension
        case appClip
        /// A watch app that belongs to an app on the iPhone. An independent watch app is an `app`.
        case watchApp
    }

    package let kind: Kind
    /// `CFBundleIdentifier`; nil if there is no bundle, as on Linux.
    package let bundleID: String?
    /// The bundle ID of the app to which this process belongs. For the app itself, its own bundle ID.
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

    /// Returns this process with another bundle ID, which `AppStoreAccess` or stored data reports.
    func withBundleID(_ bundleID: String?) -> HostProcess {
        HostProcess(
            kind, bundleID: bundleID, containingBundleID: kind == .app ? nil : containingBundleID,
            companionBundleID: companionBundleID)
    }

    /// Whether this process accepts an artifact (something signed, such as an app transaction) or a policy for the app
    /// with this bundle ID. All comparisons of bundle IDs use this function.
    ///
    /// StoreKit gives an extension the artifacts of the containing app. If the containing app is unknown, as in an App
    /// Clip, an artifact is accepted if its bundle ID is a prefix of this process's bundle ID. An app accepts only its
    /// own bundle ID. A process without a bundle ID accepts every bundle ID.
    func accepts(bundleID other: String) -> Bool {
        guard let bundleID, bundleID != other else { return true }
        let apps = [containingBundleID, companionBundleID].compactMap(\.self).filter { $0 != bundleID }
        if !apps.isEmpty { return apps.contains(other) }
        return kind != .app && !other.isEmpty && bundleID.hasPrefix(other + ".") && bundleID.count > other.count + 1
    }

    /// Whether this process may finish transactions. Only the app may, because it delivers the purchased content.
    var mayFinishTransactions: Bool { kind == .app }

    /// Whether this process may show a sign-in. Only the app may, because an extension may run without being visible.
    var mayPrompt: Bool { kind == .app }

    /// Whether this process can share a keychain with others. An App Clip can't.
    var mayShareKeychain: Bool { kind != .appClip }

    /// Throws the reason if this process can't buy or restore purchases. Only the app can.
    func checkMay(_ action: HostLimit.Action) throws(HostLimit) {
        guard kind == .app else { throw HostLimit(kind: kind, action: action) }
    }
}

/// The error if another process than the app, such as an extension, tries to do what only the app may do.
struct HostLimit: Error, Sendable, Hashable, CustomStringConvertible {
    enum Action: String, Sendable, Hashable {
        case buy = "buy"
        case restore = "restore purchases"
    }

    let kind: HostProcess.Kind
    let action: Action

    var description: String { "\(problem); \(kind.advice)" }

    /// The description without the advice.
    var problem: String { "\(kind.noun) can't \(action.rawValue)" }
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
        case .app, .appExtension: "do this in the app"
        case .appClip: "offer the full app with `SKOverlay`"
        case .watchApp: "do this in the app on the iPhone"
        }
    }
}
