import Foundation
import TenureContent
import TenureCore
import TenureFileAttributes

/// The files of an asset pack that is to be published, in a folder on the disk.
package struct PackFiles: Sendable {
    /// A file of the pack.
    package struct File: Sendable {
        /// The path in the pack, in Unicode's composed form (NFC).
        package let path: String
        /// The path on the disk.
        let location: String
        /// The file's state when the folder was scanned. If the state differs later, the file was changed.
        let state: FileState

        /// The size in bytes when the folder was scanned.
        package var size: Int64 { state.size }
    }

    /// The folder that was scanned.
    package let folder: String
    /// The files, sorted by the bytes of their paths, so that the same files always give the same archive.
    package let files: [File]

    /// The size of all files in bytes.
    package var size: Int64 { files.reduce(0) { $0 + $1.size } }
}

extension PackFiles {
    /// Finds the files in a folder and its subfolders, and all reasons why they can't be published.
    ///
    /// `.DS_Store` and names that begin with `._` are skipped. Folders without files aren't part of a pack.
    package static func scan(_ folder: String) -> (files: PackFiles, mistakes: [String]) {
        var scan = PackScan(folder: folder)
        scan.read()
        return scan.result
    }

    /// Finds the files in a folder and its subfolders.
    ///
    /// - Throws: `rejectedFiles` if a file can't be published.
    init(in folder: String) throws(PublishingError) {
        let (files, mistakes) = Self.scan(folder)
        guard mistakes.isEmpty else { throw .rejectedFiles(mistakes) }
        self = files
    }

    /// Whether a path is in the pack's folder.
    package func encloses(_ path: String) -> Bool {
        func parts(_ path: String) -> [String] {
            URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().pathComponents
        }
        return parts(path).starts(with: parts(folder))
    }

    /// Throws if an output folder is inside the pack's folder: the pack would include the output of earlier runs.
    func checkOutside(_ output: String) throws(PublishingError) {
        if encloses(output) { throw .outputInPack(folder: output, pack: folder) }
    }
}

/// Reads a folder, and collects its files and all mistakes.
private struct PackScan {
    let folder: String
    var files: [PackFiles.File] = []
    var mistakes: [String] = []
    /// Whether the scan ended early, because there are too many files.
    var isStopped = false

    /// The maximum number of pairs of conflicting paths that are reported.
    private static let maximumConflicts = 20

    /// The sorted files and all mistakes. Some mistakes are found only here, because they depend on all files.
    var result: (files: PackFiles, mistakes: [String]) {
        let sorted = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        var all = mistakes
        if !isStopped {
            if sorted.isEmpty, mistakes.isEmpty { all.append("has no files; a pack has at least one") }
            let size = sorted.reduce(0) { $0 + $1.size }
            if size > PackManifest.maximumPackSize {
                all.append("has \(size) bytes; a pack has at most \(PackManifest.maximumPackSize) (64 GB)")
            }
            all += Self.conflicts(among: sorted.map(\.path))
        }
        return (PackFiles(folder: folder, files: sorted), all)
    }

    /// Reads the whole folder of the pack.
    mutating func read() {
        guard let state = FileState(path: folder) else { return report("", "can't be read (\(Self.reason))") }
        switch state.kind {
        case .folder: read(folder, as: "")
        case .link: report("", "is a link; name the folder itself")
        case .file, .other: report("", "isn't a folder; name the folder with the files of the pack")
        }
    }

    /// Reads a folder in the pack's folder, or the pack's folder itself.
    ///
    /// - Parameter prefix: the path of the folder in the pack, with `/` at its end. Empty for the pack's folder.
    private mutating func read(_ folder: String, as prefix: String) {
        let names: [String?]
        do throws(PublishingError) {
            names = try Folder.names(in: folder)
        } catch {
            return report(prefix, "can't be read (\(error))")
        }
        for name in names where !isStopped {
            guard let name else {
                report(prefix, "has a name that isn't UTF-8; rename the file")
                continue
            }
            if Folder.isMadeByMacOS(name) { continue }
            read("\(folder)/\(name)", named: prefix + name.precomposedStringWithCanonicalMapping)
        }
    }

    /// Adds the file, or the files of the folder, at this location. Reports what can't be published.
    private mutating func read(_ location: String, named path: String) {
        guard let state = FileState(path: location) else { return report(path, "can't be read (\(Self.reason))") }
        switch state.kind {
        case .link: report(path, "is a link; replace it with the file itself")
        case .other: report(path, "is neither a file nor a folder; remove it")
        case .folder:
            // Skip folders in which no file can have a valid path. The maximum length of a path also limits recursion.
            if let mistake = AssetPath.mistake(in: path + "/a") {
                report(path, mistake)
            } else {
                read(location, as: path + "/")
            }
        case .file: add(PackFiles.File(path: path, location: location, state: state))
        }
    }

    /// Adds a file. If it can't be published, reports why.
    private mutating func add(_ file: PackFiles.File) {
        guard files.count < PackManifest.maximumFiles else {
            isStopped = true
            return report("", "has more than \(PackManifest.maximumFiles) files; split it into several packs")
        }
        files.append(file)
        if let mistake = AssetPath.mistake(in: file.path) { return report(file.path, mistake) }
        if file.size > PackManifest.maximumFileSize {
            return report(file.path, "has \(file.size) bytes; a file must be smaller than 8 GiB")
        }
        do throws(PublishingError) {
            guard let format = try ExecutableFile.format(of: try OpenFile(path: file.location)) else { return }
            report(file.path, "is \(format); App Review (2.5.2) forbids apps to download code, so put it into the app")
        } catch {
            report(file.path, "can't be read (\(error))")
        }
    }

    /// Adds a mistake about a file or a folder.
    ///
    /// - Parameter path: the path in the pack. Empty for the pack's folder.
    private mutating func report(_ path: String, _ mistake: String) {
        mistakes.append(path.isEmpty ? mistake : "`\(path.escapedForDisplay)` \(mistake)")
    }

    /// Why the last system call failed, for a message.
    private static var reason: String { PublishingError.reason(errno) }

    /// Returns a mistake for each pair of paths that can't both exist, up to `maximumConflicts`.
    private static func conflicts(among paths: [String]) -> [String] {
        var paths = paths
        var conflicts: [String] = []
        while conflicts.count < maximumConflicts, let (first, second) = AssetPath.conflict(among: paths) {
            conflicts.append(
                "`\(first.escapedForDisplay)` and `\(second.escapedForDisplay)` can't both exist on every file system; rename one"
            )
            // Compare bytes: Swift treats different Unicode normalizations of a path as equal.
            guard let index = paths.lastIndex(where: { $0.utf8.elementsEqual(second.utf8) }) else { break }
            paths.remove(at: index)
        }
        return conflicts
    }
}
