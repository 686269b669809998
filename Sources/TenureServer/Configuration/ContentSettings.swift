public import Foundation

/// The folder or bucket with the published asset packs (files that a purchase unlocks), and the lifetime of download
/// links.
public struct ContentSettings: Sendable, Hashable {
    /// The path of the folder that `tenure content publish` writes. With `s3`, the folder needs only `catalog.jws`.
    public var folder: String
    /// How long a download link works, in seconds.
    public var linkLifetime: TimeInterval = 86_400
    /// The bucket with the files; nil if the service sends them from the folder.
    public var s3: S3Settings?

    /// Creates settings with links that work for a day.
    public init(folder: String) { self.folder = folder }

    /// The mistakes that can be found without reading a file.
    var mistakes: [ServiceError] {
        var mistakes: [ServiceError] = []
        if folder.isEmpty { mistakes.append(.content("`content.folder` is empty; set it to the published folder")) }
        if linkLifetime < 1 { mistakes.append(.content("`content.linkLifetime` must be at least a second")) }
        if let s3 {
            mistakes += s3.mistakes.map { .content($0) }
            if linkLifetime > S3Settings.maximumLifetime {
                mistakes.append(
                    .content("`content.linkLifetime` is longer than 7 days, the limit of presigned URLs; shorten it"))
            }
        }
        return mistakes
    }
}
