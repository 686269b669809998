import Foundation

/// What tells a kind of process from another, of its bundle.
package struct BundleDescription: Sendable, Hashable {
    package var path: String
    package var bundleID: String?
    /// Whether Info.plist has `NSAppClip`.
    package var isAppClip: Bool
    /// `WKCompanionAppBundleIdentifier` of Info.plist: the app on the iPhone.
    package var companionBundleID: String?
    /// The bundle ID of the app whose folder this bundle is in.
    package var containingBundleID: String?

    package init(
        path: String, bundleID: String?, isAppClip: Bool = false, companionBundleID: String? = nil,
        containingBundleID: String? = nil
    ) {
        self.path = path
        self.bundleID = bundleID
        self.isAppClip = isAppClip
        self.companionBundleID = companionBundleID
        self.containingBundleID = containingBundleID
    }
}

extension HostProcess {
    /// This process.
    package static let current = HostProcess(BundleDescription(.main))

    package init(_ bundle: BundleDescription) {
        if bundle.path.hasSuffix(".appex") {
            self.init(.appExtension, bundleID: bundle.bundleID, containingBundleID: bundle.containingBundleID)
        } else if bundle.isAppClip {
            self.init(.appClip, bundleID: bundle.bundleID)
        } else if bundle.companionBundleID != nil {
            // The watch is another device. Its extensions share the watch app's state.
            self.init(.watchApp, bundleID: bundle.bundleID, containingBundleID: bundle.bundleID)
        } else {
            self.init(.app, bundleID: bundle.bundleID)
        }
    }
}

extension BundleDescription {
    init(_ bundle: Bundle) {
        let path = bundle.bundleURL.standardizedFileURL.path
        self.init(
            path: path, bundleID: bundle.bundleIdentifier,
            isAppClip: bundle.object(forInfoDictionaryKey: "NSAppClip") != nil,
            companionBundleID: bundle.object(forInfoDictionaryKey: "WKCompanionAppBundleIdentifier") as? String,
            containingBundleID: Self.containingApp(of: path).flatMap { Bundle(path: $0)?.bundleIdentifier })
    }

    /// The path of the app that an extension is in: `Example.app` of `Example.app/PlugIns/Widget.appex`.
    static func containingApp(of path: String) -> String? {
        let folders = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = folders.dropLast().lastIndex(where: { $0.hasSuffix(".app") }) else { return nil }
        return folders[...place].joined(separator: "/")
    }
}
