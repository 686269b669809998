import Foundation
import TenureCore

/// The parts that deliver the content of one app: its catalog, download links and the downloads in progress.
struct ContentDelivery: Sendable {
    let folder: ContentFolder
    let linkKey: ContentLinkKey
    /// Makes links to the bucket with the files; nil if the service sends the files itself.
    let s3: S3Links?
    /// How long a download link works, in seconds.
    let linkLifetime: TimeInterval
    let downloads: Downloads

    /// Creates the parts; nil if no content is configured.
    ///
    /// - Parameter databaseID: The ID of the app's database. Download links are valid only for this database.
    init?(_ configuration: ServiceConfiguration, databaseID: [UInt8], downloads: Downloads) throws(ServiceError) {
        guard let settings = configuration.content else { return nil }
        folder = ContentFolder(
            path: settings.folder, bundleID: configuration.policy.app.bundleID,
            staleness: configuration.contentStaleness)
        linkKey = try ContentLinkKey(folder: configuration.folderOfKeys, databaseID: databaseID)
        s3 = try settings.s3.map { settings throws(ServiceError) in try S3Links(settings) }
        linkLifetime = settings.linkLifetime
        self.downloads = downloads
    }
}
