import Foundation

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

    init(_ kind: Kind, bundleID: String?, containingBundleID: String? = nil, companionBundleID: String? = nil) {
        self.kind = kind
        self.bundleID = bundleID
        self.containingBundleID = containingBundleID ?? (kind == .app ? bundleID : nil)
        self.companionBundleID = companionBundleID
    }

    /// This process.
    static let current = HostProcess(BundleDescription(.main))

    /// Determines the kind of process from the fields of its bundle.
    init(_ bundle: BundleDescription) {
        let (id, companion) = (bundle.bundleID, bundle.companionBundleID)
        if bundle.path.hasSuffix(".appex") {
            let app = bundle.containingBundleID
            self.init(.appExtension, bundleID: id, containingBundleID: app, companionBundleID: companion)
        } else if bundle.isAppClip {
            self.init(.appClip, bundleID: id)
        } else if companion != nil {
            // The watch app contains its extensions, and shares its state with them. It shares nothing with the iPhone
            // app, which runs on another device.
            self.init(.watchApp, bundleID: id, containingBundleID: id, companionBundleID: companion)
        } else {
            self.init(.app, bundleID: id)
        }
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

    /// Returns why this process can't buy or restore purchases. Nil for the app, which can.
    func limit(on action: HostLimit.Action) -> HostLimit? { kind == .app ? nil : HostLimit(kind: kind, action: action) }
}

/// Why another process than the app, such as an extension, can't do what only the app may do.
struct HostLimit: Sendable, Hashable, CustomStringConvertible {
    enum Action: String, Sendable, Hashable {
        case buy = "buy"
        case restore = "restore purchases"
    }

    let kind: HostProcess.Kind
    let action: Action

    var description: String { "\(problem); \(kind.texts.advice)" }

    /// The description without the advice.
    var problem: String { "\(kind.texts.noun) can't \(action.rawValue)" }
}

extension HostProcess.Kind {
    fileprivate var texts: (noun: String, advice: String) {
        switch self {
        case .app: ("the app", "do this in the app")
        case .appExtension: ("an extension", "do this in the app")
        case .appClip: ("an App Clip", "offer the full app with `SKOverlay`")
        case .watchApp: ("the watch app", "do this in the app on the iPhone")
        }
    }
}

/// The fields of a bundle that determine in which kind of process (app, extension, …) its code runs.
struct BundleDescription: Sendable, Hashable {
    var path: String
    var bundleID: String?
    /// Whether Info.plist has `NSAppClip`.
    var isAppClip = false
    /// The bundle ID of the app on the iPhone: `WKCompanionAppBundleIdentifier` in the watch app's Info.plist. Also set
    /// for the watch app's extensions.
    var companionBundleID: String?
    /// The bundle ID of the app that contains this bundle. Nil if no app does.
    var containingBundleID: String?
}

extension BundleDescription {
    init(_ bundle: Bundle) {
        let path = bundle.bundleURL.standardizedFileURL.path
        let containing = Self.containingApp(of: path).flatMap { Bundle(path: $0) }
        let companionKey = "WKCompanionAppBundleIdentifier"
        self.init(
            path: path, bundleID: bundle.bundleIdentifier,
            isAppClip: bundle.object(forInfoDictionaryKey: "NSAppClip") != nil,
            companionBundleID: (bundle.object(forInfoDictionaryKey: companionKey)
                ?? containing?.object(forInfoDictionaryKey: companionKey)) as? String,
            containingBundleID: containing?.bundleIdentifier)
    }

    /// Returns the path of the bundle that has the receipt and the provisioning profile: for an extension, the
    /// containing app; otherwise the bundle itself.
    static func appPath(of path: String) -> String { path.hasSuffix(".appex") ? containingApp(of: path) ?? path : path }

    /// Returns the path of the app that contains an extension: `Example.app` for `Example.app/PlugIns/Widget.appex`.
    /// Nil if no app contains it.
    static func containingApp(of path: String) -> String? {
        let folders = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let index = folders.dropLast().lastIndex(where: { $0.hasSuffix(".app") }) else { return nil }
        return folders[...index].joined(separator: "/")
    }
}
