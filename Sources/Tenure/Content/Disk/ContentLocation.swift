package import Foundation

/// The folders for asset packs.
package struct ContentLocation: Sendable, Hashable {
    /// For what was asked for, the catalog, and packs that stay until the app removes them.
    let durable: URL
    /// For packs that the system may delete.
    let purgeable: URL

    init(durable: URL, purgeable: URL) {
        self.durable = durable
        self.purgeable = purgeable
    }

    /// Both in one folder.
    package init(in folder: URL) {
        self.init(
            durable: folder.appendingPathComponent("content", isDirectory: true),
            purgeable: folder.appendingPathComponent("caches/content", isDirectory: true))
    }

    /// The folders that the options name: in the App Group's container, if there is one.
    package init(_ options: Tenure.Options, host: HostProcess) {
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
                // An Apple TV gives apps no other place.
                self.init(durable: caches, purgeable: caches)
            #else
                self.init(durable: Self.folder(.applicationSupportDirectory, in: group, of: app), purgeable: caches)
            #endif
        #else
            let storage =
                options.accessGroup.map { FileStateStorage.shared(group: $0) }
                ?? .standard(name: AppName.ofThisApp)
            self.init(in: storage.folder)
        #endif
    }

    #if canImport(Security)
        private static func folder(
            _ place: FileManager.SearchPathDirectory, in group: URL?, of app: String
        ) -> URL {
            let own = FileManager.default.urls(for: place, in: .userDomainMask).first
            let name = place == .cachesDirectory ? "Caches" : "Application Support"
            let folder =
                group?.appendingPathComponent("Library/\(name)", isDirectory: true) ?? own
                ?? FileManager.default.temporaryDirectory
            return folder.appendingPathComponent("tenure/\(app)/content", isDirectory: true)
        }
    #endif

    var folders: [URL] { durable == purgeable ? [durable] : [durable, purgeable] }

    /// Makes a folder that is in no backup, and can be written while the device is locked after its first unlock.
    static func make(_ folder: URL) throws(DiskFailure) {
        try Disk.makeFolder(folder.path)
        #if canImport(Security)
            // The flag belongs to the folder: those of files don't survive replacing them.
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
            #if !os(macOS)
                // Files that are made in the folder get its protection.
                try? FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: folder.path)
            #endif
        #endif
    }
}
