package import TenureContent
package import TenureCore

/// An asset pack to be published, with its files.
package struct PackSource: Sendable {
    package let name: String
    /// The entitlement or product that a customer must have to download and open the pack.
    package let unlock: ContentCatalog.Unlock
    /// Whether the system may delete an installed pack to free space.
    let isPurgeable: Bool
    /// The lowest `CFBundleShortVersionString` of apps that can use these files. Nil if every app can use them.
    let minimumAppVersion: AppVersion?
    package let files: PackFiles
}

extension PackSource {
    /// Creates a pack with all files in a folder and its subfolders.
    ///
    /// - Throws: `rejectedFiles` if a file can't be published.
    package init(
        name: String, unlock: ContentCatalog.Unlock, isPurgeable: Bool = false, minimumAppVersion: AppVersion? = nil,
        folder: String
    ) throws(PublishingError) {
        self.init(
            name: name, unlock: unlock, isPurgeable: isPurgeable, minimumAppVersion: minimumAppVersion,
            files: try PackFiles(in: folder))
    }
}
