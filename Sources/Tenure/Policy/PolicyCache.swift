package import Foundation

/// Where a fetched policy lies between two starts. What comes back from there is verified again.
package protocol PolicyCache: Sendable {
    /// Nil where nothing, or nothing readable, lies there.
    func read() -> KeptPolicy?
    /// All of it or nothing. A failure costs no more than another question to the server at the next start.
    func write(_ kept: KeptPolicy)
}

/// A file of the app's.
package struct PolicyCacheFile: PolicyCache {
    private let url: URL

    package init(url: URL) {
        self.url = url
    }

    package func read() -> KeptPolicy? {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.largestFile + 1), data.count <= Self.largestFile else {
            return nil
        }
        return try? JSONDecoder().decode(KeptPolicy.self, from: data)
    }

    package func write(_ kept: KeptPolicy) {
        guard let data = try? JSONEncoder().encode(kept) else { return }
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: url, options: .atomic)
    }

    /// The text, its tag and the rest.
    private static let largestFile = 2 << 20
}
