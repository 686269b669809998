package import Foundation

/// The file of a fetched policy between two starts. Its contents are verified again when they are read.
package struct PolicyCache: Sendable {
    private let url: URL

    package init(url: URL) {
        self.url = url
    }

    /// Nil if there is nothing that can be read.
    package func read() -> KeptPolicy? {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.largestFile + 1), data.count <= Self.largestFile else {
            return nil
        }
        return try? JSONDecoder().decode(KeptPolicy.self, from: data)
    }

    /// Writes atomically. After a failure, the next start asks the server again.
    package func write(_ kept: KeptPolicy) {
        guard let data = try? JSONEncoder().encode(kept) else { return }
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: url, options: .atomic)
    }

    /// The text, its tag and the rest.
    private static let largestFile = 2 << 20
}
