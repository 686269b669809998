import Foundation

/// Where a process keeps its state (what Tenure knows about the customer between two starts).
struct StateLocation: Sendable {
    let storage: any StateStorage
    /// The app's own storage, which an earlier release used before the app shared its state with its extensions through
    /// an access group. The state is moved from this storage to `storage`. Nil if the state isn't shared.
    var formerStorage: (any StateStorage)?
    /// The file that records since when the state has been unreadable, for example because the device is locked. It
    /// limits how long customers with undetermined decisions keep access. Nil on platforms without device locks.
    var gracePeriod: GracePeriodFile?
}

extension StateLocation {
    /// Uses the storage that the options specify.
    ///
    /// - Throws: if this process can't use the access group.
    init(_ options: Tenure.Options, host: HostProcess) throws(AccessGroupError) {
        guard let group = options.accessGroup else {
            self = .unshared(options)
            return
        }
        guard host.mayShareKeychain else { throw .appClip }
        guard FileStateStorage.fileName(for: group) == group, !group.isEmpty else { throw .invalidName(group) }
        self = try Self.shared(group, options, host)
    }
}

#if canImport(Security)
    extension StateLocation {
        /// Returns the location that this process doesn't share, whatever the access group in the options is.
        static func unshared(_ options: Tenure.Options, _ log: (@Sendable (String) -> Void)? = nil) -> StateLocation {
            if let folder = options.folder { return StateLocation(storage: FileStateStorage(folder: folder)) }
            return inKeychain(
                name: AppName.ofThisApp, group: nil, folder: support(AppName.ofThisApp),
                log ?? FallbackStateStorage.loggingOnce { options.log.error($0) })
        }

        /// Returns the location that the app shares with its extensions. Throws if the app doesn't have the group.
        private static func shared(
            _ group: String, _ options: Tenure.Options, _ host: HostProcess
        ) throws(AccessGroupError) -> StateLocation {
            guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
                throw .missing(group)
            }
            // Several apps may use one group. Each app has its own state, which it shares with its extensions.
            let app = host.containingBundleID ?? AppName.ofThisApp
            let folder = container.appendingPathComponent("Library/Application Support/tenure/\(app)")
            // On the Mac, the system returns the path of a container even if the app lacks the group. So check that the
            // container is writable. Don't create the folder yet: this may run on the main thread.
            guard FileManager.default.isWritableFile(atPath: container.path) else { throw .missing(group) }
            let log = FallbackStateStorage.loggingOnce { options.log.error($0) }
            var location = inKeychain(name: app, group: group, folder: folder, log)
            location.formerStorage = unshared(options, log).storage
            return location
        }

        private static func inKeychain(
            name: String, group: String?, folder: URL, _ log: @escaping @Sendable (String) -> Void
        ) -> StateLocation {
            let keychain = KeychainStateStorage(name: name, group: group, folder: folder)
            let storage = FallbackStateStorage(keychain: keychain, file: FileStateStorage(folder: folder), log: log)
            return StateLocation(
                storage: storage, gracePeriod: GracePeriodFile(url: folder.appendingPathComponent("unreadable-since")))
        }

        /// Returns the folder `tenure/NAME` in Application Support, on tvOS in Caches.
        static func support(_ name: String) -> URL {
            #if os(tvOS)
                // On tvOS, apps can store files only in the caches folder.
                let directory = FileManager.SearchPathDirectory.cachesDirectory
            #else
                let directory = FileManager.SearchPathDirectory.applicationSupportDirectory
            #endif
            let manager = FileManager.default
            let folder = manager.urls(for: directory, in: .userDomainMask).first ?? manager.temporaryDirectory
            return folder.appendingPathComponent("tenure/\(name)", isDirectory: true)
        }
    }
#else
    extension StateLocation {
        /// Returns the location that this process doesn't share, whatever the access group in the options is.
        static func unshared(_ options: Tenure.Options) -> StateLocation {
            StateLocation(
                storage: options.folder.map { FileStateStorage(folder: $0) } ?? .standard(name: AppName.ofThisApp))
        }

        private static func shared(
            _ group: String, _ options: Tenure.Options, _ host: HostProcess
        ) throws(AccessGroupError) -> StateLocation {
            StateLocation(storage: FileStateStorage.shared(group: group), formerStorage: unshared(options).storage)
        }
    }
#endif

/// The name under which this app stores its state.
enum AppName {
    static var ofThisApp: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }
}
