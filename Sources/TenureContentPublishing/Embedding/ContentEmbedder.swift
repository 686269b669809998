import Foundation
package import TenureContent
import TenureFileAttributes

/// Writes asset packs as plain files to a folder that the app's bundle includes, for `tenure content embed`.
package struct ContentEmbedder: Sendable {
    private let folder: String

    /// - Parameter folder: the path of the folder to write or to replace.
    package init(folder: String) { self.folder = folder }

    /// Writes all packs, and `content.json` with their description, to a new folder. Then replaces the old folder with
    /// the new one: in one step, if the file system supports that.
    ///
    /// - Parameter progress: called with the number of bytes of files that were read since the last call.
    /// - Throws: `foreignFiles` if the old folder has files that an earlier call didn't write, and `locked` if another
    ///   process is replacing the folder. Also `outputInPack`, and the errors of reading and writing.
    package func embed(
        _ sources: [PackSource], progress: (Int) -> Void = { _ in }
    ) throws(PublishingError) -> EmbeddedContent {
        for source in sources { try source.files.checkOutside(folder) }
        let target = URL(fileURLWithPath: folder)
        let parent = target.deletingLastPathComponent().path
        let prefix = ".\(target.lastPathComponent)\(NewFile.prefix)"
        try Folder.make(parent)
        try recover(target.path, in: parent, prefix)
        let exists = try checkExisting()
        let new = "\(parent)/\(prefix)\(UInt64.random(in: .min ... .max))"
        try Folder.make(new)
        defer { try? FileManager.default.removeItem(atPath: new) }
        return try Folder.withLock(on: new, flags: Self.folderFlags, in: folder) { () throws(PublishingError) in
            let content = try write(sources, to: new, progress)
            if exists { try replace(target.path, by: new) } else { try move(new, to: target.path) }
            return content
        }
    }

    /// The flags with which a folder is opened to lock it.
    private static let folderFlags = O_RDONLY | O_DIRECTORY

    /// Writes all packs and `content.json` to the new folder.
    private func write(
        _ sources: [PackSource], to new: String, _ progress: (Int) -> Void
    ) throws(PublishingError) -> EmbeddedContent {
        var packs: [EmbeddedContent.Pack] = []
        for source in sources {
            let manifest = try write(source.files, to: "\(new)/\(source.name)", progress)
            packs.append(
                EmbeddedContent.Pack(
                    name: source.name, unlock: source.unlock, isPurgeable: source.isPurgeable,
                    minimumAppVersion: source.minimumAppVersion, manifest: manifest))
        }
        let content: EmbeddedContent
        do {
            content = try EmbeddedContent(packs: packs)
        } catch {
            throw .invalidContent(error)
        }
        try NewFile.write(content.json, as: EmbeddedContent.fileName, in: new)
        return content
    }

    /// Removes the temporary folders of earlier runs that were killed. If a run was killed while neither the old nor
    /// the new folder was in its place, moves the old folder back.
    ///
    /// - Parameter prefix: the prefix of the names of temporary folders in `parent`.
    private func recover(_ target: String, in parent: String, _ prefix: String) throws(PublishingError) {
        for case let name? in try Folder.names(in: parent) where name.hasPrefix(prefix) {
            // A run that is still active has a lock on its folder, so this call throws `locked`.
            try Folder.withLock(on: "\(parent)/\(name)", flags: Self.folderFlags, in: folder) {
                () throws(PublishingError) in
                if name.hasSuffix(Self.oldSuffix), FileState(path: target) == nil {
                    try move("\(parent)/\(name)", to: target)
                } else {
                    try remove("\(parent)/\(name)")
                }
            }
        }
    }

    /// The suffix of the old folder's name while it is being replaced in two steps.
    private static let oldSuffix = "-old"

    /// Replaces the old folder at `target` with the folder at `new`.
    private func replace(_ target: String, by new: String) throws(PublishingError) {
        if try Folder.exchange(new, target) { return try remove(new) }
        // If the process is killed between these two steps, the next run restores the folder.
        let old = new + Self.oldSuffix
        try move(target, to: old)
        try move(new, to: target)
        try remove(old)
    }

    private func move(_ source: String, to target: String) throws(PublishingError) {
        guard rename(source, target) == 0 else { throw .writing(target) }
    }

    /// Returns whether the folder to write already exists. Throws if it has files that an earlier call didn't write.
    private func checkExisting() throws(PublishingError) -> Bool {
        guard let state = FileState(path: folder) else {
            guard errno == ENOENT else { throw .reading(folder) }
            return false
        }
        guard state.kind == .folder else { throw .unwritable(path: folder, reason: "not a folder") }
        let json = FileManager.default.contents(atPath: "\(folder)/\(EmbeddedContent.fileName)")
        let earlier = json.flatMap { try? EmbeddedContent(json: $0) }
        var writtenPaths: Set<String> = earlier == nil ? [] : [EmbeddedContent.fileName]
        for pack in earlier?.packs ?? [] { writtenPaths.formUnion(pack.files.map { "\(pack.name)/\($0.path)" }) }
        try check(folder, as: "", against: Self.withFolders(writtenPaths))
        return true
    }

    /// Returns these paths of files, and the paths of all folders that contain the files.
    private static func withFolders(_ files: Set<String>) -> Set<String> {
        var paths = files
        for file in files {
            var folder = file[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                guard paths.insert(String(folder)).inserted else { break }
            }
        }
        return paths
    }

    /// Throws if anything in `folder` isn't in `writtenPaths`, the paths that an earlier call wrote.
    ///
    /// - Parameter prefix: the path of `folder` relative to the embedder's folder, with `/` at its end.
    private func check(_ folder: String, as prefix: String, against writtenPaths: Set<String>) throws(PublishingError) {
        for name in try Folder.names(in: folder) {
            guard let name else {
                throw .foreignFiles(folder: self.folder, name: "\(prefix)(a name that isn't UTF-8)")
            }
            if Folder.isMadeByMacOS(name) { continue }
            let path = prefix + name.precomposedStringWithCanonicalMapping
            guard writtenPaths.contains(path) else { throw .foreignFiles(folder: self.folder, name: prefix + name) }
            if FileState(path: "\(folder)/\(name)")?.kind == .folder {
                try check("\(folder)/\(name)", as: path + "/", against: writtenPaths)
            }
        }
    }

    /// Writes the files of one pack to the folder `pack`, and returns the pack's manifest.
    private func write(
        _ files: PackFiles, to pack: String, _ progress: (Int) -> Void
    ) throws(PublishingError) -> PackManifest {
        try Folder.make(pack)
        var writer = FileWriter()
        let manifest = try files.manifest(progress: progress) { piece throws(PublishingError) in
            switch piece {
            case .header(let path, _):
                try writer.end()
                try writer.begin(path: path, in: pack)
            case .contents(let bytes): try writer.write(bytes)
            case .padding: break
            }
        }
        try writer.end()
        return manifest
    }

    private func remove(_ path: String) throws(PublishingError) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw .unwritable(path: path, reason: error.localizedDescription)
        }
    }
}

/// Writes the files of a pack, one after the other: `begin`, `write` for each piece, `end`.
private struct FileWriter: ~Copyable {
    private var file: NewFile?
    private var name = ""

    /// Begins a file at a path in the folder `pack`, and creates the folders that contain it.
    mutating func begin(path: String, in pack: String) throws(PublishingError) {
        let location = URL(fileURLWithPath: "\(pack)/\(path)")
        let folder = location.deletingLastPathComponent().path
        try Folder.make(folder)
        file = try NewFile(in: folder)
        name = location.lastPathComponent
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(PublishingError) { try file?.write(bytes) }

    /// Completes the current file. Does nothing if no file was begun.
    mutating func end() throws(PublishingError) {
        let name = self.name
        try file.take()?.complete(as: name, flushing: false)
    }
}
