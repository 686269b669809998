import Foundation

/// The app's request to download a pack. The request stays until the pack is installed, the app cancels it, or the
/// right ends.
struct PackRequest: Codable, Sendable, Hashable {
    let pack: String
    /// The version that was installed when the app made the request, as the digest of its manifest (its list of files).
    /// Nil if no version was installed.
    let installed: String?
    var isPaused = false
    /// Whether the download may use an expensive network, or a network in Low Data Mode.
    var allowsExpensiveNetwork = false
}

/// The downloads that the app and its extensions asked for, in one file that all these processes change.
struct SharedRequests: Sendable {
    /// The contents of the file.
    struct Contents: Codable, Sendable, Hashable {
        /// Grows with every change of the requests, and of what is installed.
        var revision = 0
        var requests: [PackRequest] = []
    }

    let store: PackStore

    private var path: String { store.location.durableFolder.path + "/requests.json" }

    func read() -> Contents { Disk.decoded(Contents.self, at: path, maximumSize: 1 << 16) ?? Contents() }

    /// Reads the stored list, which another process may have changed since the last call. Then changes, stores and
    /// returns the list.
    func update(_ change: (inout [PackRequest]) -> Void) throws -> Contents {
        try ContentLocation.make(store.location.durableFolder)
        return try store.withLock {
            var contents = read()
            change(&contents.requests)
            contents.revision += 1
            try Disk.replace(path, with: try JSONEncoder().encode(contents))
            return contents
        }
    }
}
