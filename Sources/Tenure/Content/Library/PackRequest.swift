import Foundation

/// A download that was asked for. It stays until the pack is installed, the download is canceled, or the right ends.
struct PackRequest: Codable, Sendable, Hashable {
    let pack: String
    /// The manifest of the version that was installed when the app asked. Nil: none.
    let installed: String?
    var isPaused = false
    var allowsExpensiveNetwork = false
}

/// The downloads that the app and its extensions asked for, in one file that all of them change.
struct SharedRequests: Sendable {
    struct Contents: Codable, Sendable, Hashable {
        /// Grows with every change of the requests, and of what is installed.
        var revision = 0
        var requests: [PackRequest] = []
    }

    let store: PackStore

    private var path: String { store.location.durable.path + "/requests.json" }
    private static let largestFile = 1 << 16

    func read() -> Contents {
        let data = Disk.contents(of: path, most: Self.largestFile)
        return data.flatMap { try? JSONDecoder().decode(Contents.self, from: $0) } ?? Contents()
    }

    /// Changes what is stored now, which another process may have changed since it was read.
    func update(_ change: (inout [PackRequest]) -> Void) throws -> Contents {
        try ContentLocation.make(store.location.durable)
        return try store.withLock {
            var contents = read()
            change(&contents.requests)
            contents.revision += 1
            try Disk.replace(path, with: try JSONEncoder().encode(contents))
            return contents
        }
    }
}
