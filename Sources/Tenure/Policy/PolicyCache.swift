import Foundation

/// The file in which a fetched policy is stored for the next start. The policy is verified again when it is read.
struct PolicyCache: Sendable {
    let url: URL

    /// Returns the stored policy. Nil if it is missing or can't be read.
    func read() -> CachedPolicy? {
        Disk.decoded(CachedPolicy.self, at: url.path, maximumSize: Self.maximumFileSize)
    }

    /// Stores the policy atomically. If the file can't be written, the next start fetches the policy again.
    func write(_ policy: CachedPolicy) {
        guard let data = try? JSONEncoder().encode(policy) else { return }
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: url, options: .atomic)
    }

    /// The maximum size of the file in bytes: a policy's text and its tag.
    private static let maximumFileSize = 2 << 20
}
