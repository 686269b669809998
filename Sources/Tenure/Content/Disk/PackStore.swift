import Foundation
import TenureContent
import TenureFiles
import TenureJSON

/// The asset packs on the disk: installed versions, and downloads that aren't complete.
///
/// Each version of a pack has a manifest, which lists the version's files with their digests, and an archive, one file
/// with the contents of all these files. Downloads request ranges of the archive.
///
/// ```
/// packs.lock                      locked briefly while one of these files changes
/// requests.json                   the downloads that the app asked for: see `SharedRequests`
/// transfer.json                   the process that is downloading: see `TransferLease`
/// background.json                 the ranges that the system is downloading: see `BackgroundTransfers`
/// links.json                      the service's links to archives: see `ServiceContent`
/// catalogs/…                      what the content sources have: see `Catalogs`
/// packs/NAME/installed.json       the version in use, and its folder
/// packs/NAME/DIGEST.json          the manifest with this digest
/// packs/NAME/versions/FOLDER/…    the files of a version
/// packs/NAME/users/FOLDER.PID     markers of processes that use a version: see `VersionUse`
/// packs/NAME/partial/             a download that isn't complete: see `PartialPack`
/// packs/NAME/old/                 a partly downloaded version, until a newer version has taken its files
/// packs/NAME/removed-…            files and folders that are being removed
/// ```
struct PackStore: Sendable {
    let location: ContentLocation

    /// Runs `body` with a lock, so that nothing else in this or another process changes the state of a pack meanwhile.
    ///
    /// Keep `body` short: the system terminates an app that is suspended while it holds a file lock.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try InterProcessLock(path: location.durableFolder.path + "/packs.lock").withLock(body)
    }

    /// Returns the folder in which the pack is installed or partly downloaded; otherwise the folder for a new download.
    func folder(of pack: String, isPurgeable: Bool = false) -> String {
        let folders = location.folders.map { path(of: pack, in: $0) }
        let used =
            folders.first { Disk.exists($0 + "/" + Self.installedName) }
            ?? folders.first { Disk.exists($0 + "/" + PartialPack.folderName) }
        return used ?? path(of: pack, in: isPurgeable ? location.purgeableFolder : location.durableFolder)
    }

    private func path(of pack: String, in folder: URL) -> String {
        folder.appendingPathComponent("packs/" + pack, isDirectory: true).path
    }

    /// Makes the folder of a pack, excludes the folder from backups, and returns its path.
    func prepareFolder(of pack: String, isPurgeable: Bool) throws(DiskFailure) -> String {
        let folder = folder(of: pack, isPurgeable: isPurgeable)
        for root in location.folders where folder.hasPrefix(root.path + "/") { try ContentLocation.make(root) }
        // Never write through a symbolic link.
        if (try? FileManager.default.destinationOfSymbolicLink(atPath: folder)) != nil { Disk.remove(folder) }
        try ContentLocation.make(URL(fileURLWithPath: folder, isDirectory: true))
        return folder
    }

    /// The names of packs that have files on the device, sorted.
    var names: [String] {
        let folderNames = location.folders.flatMap { Disk.names(in: $0.appendingPathComponent("packs").path) }
        return Set(folderNames.filter { ContentCatalog.isName($0) }).sorted()
    }

    /// Returns the total size of all files of a pack, including those of partly downloaded and older versions.
    func bytesOnDisk(of pack: String) -> Int64 {
        location.folders.reduce(0) { $0 + Disk.size(below: path(of: pack, in: $1)) }
    }

    /// Removes all files of a pack, including those of partly downloaded and older versions.
    func remove(_ pack: String) {
        for folder in location.folders {
            let path = path(of: pack, in: folder)
            // Remove `installed.json` first: without it, the pack isn't installed, even if removing the rest fails.
            Disk.remove(path + "/" + Self.installedName)
            Disk.remove(path)
        }
    }

    // MARK: Installed versions

    /// Returns the installed version of a pack. Nil if no version is installed.
    func installed(_ pack: String) -> InstalledPack? { installed(inFolder: folder(of: pack)) }

    /// Returns the version that is installed in a pack's folder. Nil if no version is installed, or if `installed.json`
    /// is damaged, or the manifest is damaged or missing.
    func installed(inFolder folder: String) -> InstalledPack? {
        let path = folder + "/" + Self.installedName
        guard let record = Disk.decoded(InstalledRecord.self, at: path, maximumSize: 4096),
            // Any other name might lead to another folder.
            Self.isFolderName(record.folder), let version = ContentDigest(record.description.manifest),
            let manifest = manifest(version, inFolder: folder)
        else { return nil }
        return InstalledPack(
            version: version, manifest: manifest, path: folder + "/versions/" + record.folder, folder: record.folder,
            description: record.description, embedded: record.embedded)
    }

    /// Returns the stored manifest of a version. Nil if it is missing or damaged.
    ///
    /// - Parameter version: the manifest's digest, which identifies the version.
    func manifest(_ version: ContentDigest, inFolder folder: String) -> PackManifest? {
        guard let json = Disk.contents(of: folder + "/\(version).json", maximumSize: PackManifest.maximumTextSize),
            ContentDigest(of: json) == version
        else { return nil }
        return try? PackManifest(json: json)
    }

    func store(_ manifest: Data, as version: ContentDigest, inFolder folder: String) throws(DiskFailure) {
        try Disk.replace(folder + "/\(version).json", with: manifest)
    }

    /// Makes the version that was downloaded by this plan the installed version, and deletes the plan.
    ///
    /// - Parameter embedded: the version of this pack in the app's bundle; nil if the bundle doesn't have the pack.
    func setInstalled(_ plan: PartialPack.Plan, embedded: ContentDigest?, in folder: String) throws {
        let record = InstalledRecord(
            description: plan.description, folder: plan.folder, embedded: embedded?.description)
        let data = try JSONEncoder().encode(record)
        // Do both under one lock. Otherwise another process could remove the new version's folder as unused.
        try withLock {
            try Disk.replace(folder + "/" + Self.installedName, with: data)
            PartialPack.discard(in: folder)
        }
    }

    /// Removes old versions, except those of which a running process has URLs. Also removes manifests that no installed
    /// or partly downloaded version needs.
    func removeOldVersions(of pack: String) {
        for root in location.folders {
            let folder = path(of: pack, in: root)
            guard Disk.exists(folder) else { continue }
            try? withLock {
                let current = installed(inFolder: folder)
                let partial = PartialPack.plan(in: folder)
                for name in Disk.names(in: folder + "/versions")
                where name != current?.folder && name != partial?.folder && !VersionUse.isUsed(name, inFolder: folder) {
                    try? setAside(folder + "/versions/" + name, in: folder)
                }
                let manifests = [current?.version.description, partial?.description.manifest].compactMap(\.self)
                for name in Disk.names(in: folder) where name.hasSuffix(".json") && name != Self.installedName {
                    if !manifests.contains(String(name.dropLast(5))) { Disk.remove(folder + "/" + name) }
                }
            }
            // The lock isn't held while the folders that were set aside are removed.
            for name in Disk.names(in: folder) where name.hasPrefix(Self.removedPrefix) {
                Disk.remove(folder + "/" + name)
            }
        }
    }

    private static let removedPrefix = "removed-"

    /// Renames a folder, so that its files can be removed later, without the lock.
    private func setAside(_ path: String, in folder: String) throws(DiskFailure) {
        try Disk.move(path, to: "\(folder)/\(Self.removedPrefix)\(UInt64.random(in: .min ... .max))")
    }

    private static let installedName = "installed.json"

    /// Returns a new name for the folder of a version. The name is random, so that a version that lost files can be
    /// installed again while the damaged folder still exists.
    static func newFolderName(for version: String) -> String {
        "\(version.prefix(16))-\(UInt32.random(in: .min ... .max))"
    }

    /// Whether a stored name can be the name of a version's folder. Any other name might lead to another folder.
    static func isFolderName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count < 64
            && name.utf8.allSatisfy { HexDigit.value($0) != nil || $0 == UInt8(ascii: "-") }
    }
}

/// A version of a pack with verified files in their final place.
struct InstalledPack: Sendable {
    /// The digest of the manifest, which identifies the version.
    let version: ContentDigest
    let manifest: PackManifest
    /// The folder with the version's files.
    let path: String
    /// The name of the folder at `path`.
    let folder: String
    /// What the catalog said about this version when it was installed.
    let description: PackDescription
    /// The version of this pack in the app's bundle when this version was installed; nil if the bundle didn't have the
    /// pack. If the bundle has another version now, an update of the app brought it.
    let embedded: String?

    func path(of file: PackManifest.File) -> String { path + "/" + file.path }

    /// The files that are missing or have the wrong size.
    var lostFiles: [PackManifest.File] { manifest.files.filter { FileStatus(path: path(of: $0))?.size != $0.size } }

    /// Whether a file has the contents that the manifest describes.
    func isIntact(_ file: PackManifest.File) -> Bool { file.hasContents(at: path(of: file)) }
}

/// The contents of `installed.json`.
private struct InstalledRecord: Codable {
    let description: PackDescription
    /// The name of the folder with the files.
    let folder: String
    /// The version in the app's bundle at the time of the installation.
    let embedded: String?
}
