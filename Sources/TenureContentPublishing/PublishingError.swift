import Foundation
package import TenureContent
import TenureCore

/// Why content can't be published, listed or pruned.
package enum PublishingError: Error, Sendable, Hashable {
    /// Files of a pack can't be published. Each text names a file and the reason.
    case rejectedFiles([String])
    case unreadable(path: String, reason: String)
    /// A file changed while it was read.
    case changed(path: String)
    case unwritable(path: String, reason: String)
    case diskFull(path: String)
    /// Another command is using the folder.
    case locked(folder: String)
    /// The folder has no catalog.
    case notPublished(folder: String)
    /// The folder has a catalog that the key didn't sign, or that is damaged, so nothing can be published there.
    case foreignCatalog(path: String, ContentError)
    /// A catalog is damaged, so it isn't known which files it names, and no file can be removed.
    case damagedCatalog(path: String, ContentError)
    /// The counter isn't higher than the counter of the catalog in the folder.
    case counterTooLow(counter: Int64, previous: Int64)
    /// Clients would reject the manifest, the catalog or `content.json`.
    case invalidContent(ContentError)
    /// The output folder is inside a pack's folder.
    case outputInPack(folder: String, pack: String)
    /// The folder for embedded content has files that Tenure didn't write.
    case foreignFiles(folder: String, name: String)

    /// Creates the error for a failed system call that writes, by `errno`.
    static func writing(_ path: String) -> PublishingError {
        let code = errno
        return code == ENOSPC || code == EDQUOT
            ? .diskFull(path: path) : .unwritable(path: path, reason: Self.reason(code))
    }

    /// Creates the error for a failed system call that reads, by `errno`.
    static func reading(_ path: String) -> PublishingError {
        .unreadable(path: path, reason: reason(errno))
    }

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
            "the existing catalog `\(path.escapedForDisplay)` can't be used (\(error)); name the key that signed it with `--previous-key`, or replace it with `--replace`, which removes all its versions"
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

    /// What to do with a damaged catalog without a backup: the current catalog, or an earlier one in `catalogs`.
    private static func fix(ofDamaged path: String) -> String {
        path.hasSuffix("/" + SignedCatalog.fileName)
            ? "publish all packs again with `tenure content publish --replace`"
            : "delete it; `prune` then also removes files that only this catalog names"
    }
}
