import Foundation

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

extension HostProcess {
    /// This process.
    static let current = HostProcess(BundleDescription(.main))

    /// Determines the kind of process from the fields of its bundle.
    init(_ bundle: BundleDescription) {
        if bundle.path.hasSuffix(".appex") {
            self.init(
                .appExtension, bundleID: bundle.bundleID, containingBundleID: bundle.containingBundleID,
                companionBundleID: bundle.companionBundleID)
        } else if bundle.isAppClip {
            self.init(.appClip, bundleID: bundle.bundleID)
        } else if bundle.companionBundleID != nil {
            // The watch app contains its extensions, and shares its state with them. It shares nothing with the iPhone
            // app, which runs on another device.
            self.init(
                .watchApp, bundleID: bundle.bundleID, containingBundleID: bundle.bundleID,
                companionBundleID: bundle.companionBundleID)
        } else {
            self.init(.app, bundleID: bundle.bundleID)
        }
    }
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
    static func appPath(of path: String) -> String {
        path.hasSuffix(".appex") ? containingApp(of: path) ?? path : path
    }

    /// Returns the path of the app that contains an extension: `Example.app` for `Example.app/PlugIns/Widget.appex`.
    /// Nil if no app contains it.
    static func containingApp(of path: String) -> String? {
        let folders = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let index = folders.dropLast().lastIndex(where: { $0.hasSuffix(".app") }) else { return nil }
        return folders[...index].joined(separator: "/")
    }
}
