import Foundation
package import TenureContent
import TenureCore

/// Why `tenure content` can't publish, embed, list or prune asset packs.
package enum PublishingError: Error, Sendable, Hashable {
    /// Files of a pack can't be published. Each text names a file and the reason.
    case rejectedFiles([String])
    /// A file or folder can't be read. The reason is a few words, such as `permission denied`.
    case unreadable(path: String, reason: String)
    /// A file changed while it was read.
    case changed(path: String)
    /// A file or folder can't be created, written, renamed or removed.
    case unwritable(path: String, reason: String)
    case diskFull(path: String)
    /// Another command is using the folder.
    case locked(folder: String)
    /// The folder has no catalog.
    case notPublished(folder: String)
    /// The folder to publish to has a catalog that is damaged, is of another app, or wasn't signed by a known key.
    case foreignCatalog(path: String, ContentError)
    /// A catalog in the folder is damaged. It isn't known which files this catalog names, so no file can be removed.
    case damagedCatalog(path: String, ContentError)
    /// The counter for the new catalog isn't higher than `previous`, the counter of the catalog in the folder.
    case counterTooLow(counter: Int64, previous: Int64)
    /// Clients would reject the manifest, the catalog or `content.json`.
    case invalidContent(ContentError)
    /// The output folder is inside a pack's folder.
    case outputInPack(folder: String, pack: String)
    /// The folder to which packs are embedded has a file, `name`, that `tenure content embed` didn't write.
    case foreignFiles(folder: String, name: String)

    /// Creates the error for a system call that failed to write the file at this path. `errno` tells why.
    static func writing(_ path: String) -> PublishingError {
        let code = errno
        return code == ENOSPC || code == EDQUOT
            ? .diskFull(path: path) : .unwritable(path: path, reason: Self.reason(code))
    }

    /// Creates the error for a system call that failed to read the file at this path. `errno` tells why.
    static func reading(_ path: String) -> PublishingError { .unreadable(path: path, reason: reason(errno)) }

    /// Returns the system's description of an `errno` code, such as `permission denied`.
    static func reason(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
}

extension PublishingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rejectedFiles(let mistakes): mistakes.joined(separator: "\n")
        case .unreadable(let path, let reason):
            "can't read `\(path.escapedForDisplay)` (\(reason)); check the path and its permissions"
        case .changed(let path):
            "`\(path.escapedForDisplay)` changed while it was read; publish again when nothing writes to it"
        case .unwritable(let path, let reason):
            "can't write `\(path.escapedForDisplay)` (\(reason)); check the folder and its permissions"
        case .diskFull(let path):
            "the disk is full: can't write `\(path.escapedForDisplay)`; free space, then run the command again"
        case .locked(let folder):
            "another `tenure content` command is using `\(folder.escapedForDisplay)`; wait until that command has ended"
        case .notPublished(let folder):
            "`\(folder.escapedForDisplay)` has no `\(SignedCatalog.fileName)`; publish to it with `tenure content publish`"
        case .foreignCatalog(let path, let error):
            "the existing catalog `\(path.escapedForDisplay)` can't be used (\(error)); pass the public key that signed this catalog as `--previous-key`, or replace the catalog with `--replace`, which removes all its versions"
        case .damagedCatalog(let path, let error):
            "the catalog `\(path.escapedForDisplay)` can't be read (\(error)), so no file was removed; restore the file from a backup. Without a backup, \(Self.fix(ofDamaged: path))"
        case .counterTooLow(let counter, let previous):
            "the counter \(counter) isn't higher than \(previous), the counter of the catalog in the folder; write `--counter \(previous + 1)`"
        case .outputInPack(let folder, let pack):
            "`\(folder.escapedForDisplay)` is inside `\(pack.escapedForDisplay)`, so it would be published with the pack; write to another folder"
        case .invalidContent(let error): error.description
        case .foreignFiles(let folder, let name):
            "`\(folder.escapedForDisplay)` has `\(name.escapedForDisplay)`, which `tenure content embed` didn't write; move it away, or name an empty or new folder"
        }
    }

    /// Returns what to do with a damaged catalog if there is no backup of it. The path is that of the current catalog,
    /// or of an earlier catalog in the folder `catalogs`.
    private static func fix(ofDamaged path: String) -> String {
        path.hasSuffix("/" + SignedCatalog.fileName)
            ? "publish all packs again with `tenure content publish --replace`"
            : "delete it; `tenure content prune` then also removes files that only this catalog names"
    }
}
