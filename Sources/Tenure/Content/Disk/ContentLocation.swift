package import Foundation

/// The folders in which a process stores asset packs.
package struct ContentLocation: Sendable, Hashable {
    /// The folder for the list of downloads, the catalogs, and packs that stay until the app removes them.
    let durableFolder: URL
    /// The folder for packs that the system may delete.
    let purgeableFolder: URL

    init(durable: URL, purgeable: URL) {
        durableFolder = durable
        purgeableFolder = purgeable
    }

    /// Uses two subfolders of one folder.
    package init(in folder: URL) {
        self.init(
            durable: folder.appendingPathComponent("content", isDirectory: true),
            purgeable: folder.appendingPathComponent("caches/content", isDirectory: true))
    }

    /// Uses `options.folder`. If it is nil, uses the app's folders, or those of the App Group in the options.
    init(_ options: Tenure.Options, host: HostProcess) {
        if let folder = options.folder {
            self.init(in: folder)
            return
        }
        #if canImport(Security)
            let app = host.containingBundleID ?? AppName.ofThisApp
            let group = options.accessGroup.flatMap {
                FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0)
            }
            let caches = Self.folder(.cachesDirectory, in: group, of: app)
            #if os(tvOS)
                // On tvOS, apps can store large files only in the caches folder.
                self.init(durable: caches, purgeable: caches)
            #else
                self.init(durable: Self.folder(.applicationSupportDirectory, in: group, of: app), purgeable: caches)
            #endif
        #else
            let storage =
                options.accessGroup.map { FileStateStorage.shared(group: $0) } ?? .standard(name: AppName.ofThisApp)
            self.init(in: storage.folder)
        #endif
    }

    #if canImport(Security)
        private static func folder(_ kind: FileManager.SearchPathDirectory, in group: URL?, of app: String) -> URL {
            let own = FileManager.default.urls(for: kind, in: .userDomainMask).first
            let name = kind == .cachesDirectory ? "Caches" : "Application Support"
            let folder =
                group?.appendingPathComponent("Library/\(name)", isDirectory: true) ?? own
                ?? FileManager.default.temporaryDirectory
            return folder.appendingPathComponent("tenure/\(app)/content", isDirectory: true)
        }
    #endif

    /// Both folders, or one if they are the same.
    var folders: [URL] { durableFolder == purgeableFolder ? [durableFolder] : [durableFolder, purgeableFolder] }

    /// Makes a folder that is excluded from backups. Once the device was unlocked after its start, the folder can be
    /// written even while the device is locked.
    static func make(_ folder: URL) throws(DiskFailure) {
        try Disk.makeFolder(folder.path)
        #if canImport(Security)
            // Exclude the folder rather than its files: a file loses the flag when it is replaced.
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
            #if !os(macOS)
                // Files that are created in the folder inherit its protection.
                try? FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: folder.path)
            #endif
        #endif
    }
}
