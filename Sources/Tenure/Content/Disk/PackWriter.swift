import Foundation
import TenureContent
import TenureFiles

/// Writes downloaded ranges of an archive into the files of a partly downloaded pack, and compares each chunk (a part
/// of a file) with its digest.
///
/// The archive is one file with the contents of all files of the pack. The manifest lists these files, and says at
/// which offset of the archive each of them begins. Headers in the archive are never read.
final class PackWriter {
    private(set) var partialPack: PartialPack
    /// How many times each chunk was downloaded with wrong bytes.
    private var failures: [PartialPack.Chunk: Int] = [:]
    private var currentFile: OpenFile?
    /// The missing parts of the range that is being written, in order.
    private var gaps: [PartialPack.Gap] = []
    /// The position in the archive of the next byte.
    private var offset: Int64 = 0

    /// The file of the pack that is being written.
    private struct OpenFile {
        /// The index of the file in the manifest.
        let fileIndex: Int
        let path: String
        let descriptor: Int32
        /// The position in the file up to which bytes are written and hashed.
        var position: Int64
        var hash = ContentHash()
        /// Whether `hash` covers the current chunk from its start, so that it can be compared with the digest.
        var isHashed: Bool
    }

    /// Throws if another process has taken over the download and may write this pack.
    private let confirm: () throws -> Void

    init(_ partial: PartialPack, confirm: @escaping () throws -> Void) {
        partialPack = partial
        self.confirm = confirm
    }

    deinit { closeFile() }

    /// After this many downloads of a chunk with wrong bytes, the download fails: the file on the server is wrong.
    static let maximumFailures = 5

    // MARK: Ranges

    /// The maximum size of one request, in bytes.
    static let maximumRangeSize: Int64 = 32 << 20
    /// If there are fewer bytes between two missing parts, one request fetches both.
    static let minimumGap: Int64 = 64 << 10

    /// Returns the next range to request. Nil if there is nothing to request. Missing parts that lie close to each
    /// other are joined into one range.
    ///
    /// A file is written only from its start to its end. So a part that comes after a range of `others` in the same
    /// file isn't requested yet.
    ///
    /// - Parameter others: the ranges that the system is downloading.
    func nextRange(except others: [Range<Int64>] = []) -> Range<Int64>? {
        let taken = others + partialPack.arrivedRanges.map(\.range)
        var joined: Range<Int64>?
        for gap in partialPack.gaps {
            let range = gap.archiveRange
            // The part of the gap before the first range that the system downloads.
            let free = taken.isEmpty ? range : range.subtracting(taken).first
            guard let free, free.lowerBound == range.lowerBound else { continue }
            guard let first = joined else {
                joined = free
                continue
            }
            let between = first.upperBound..<max(first.upperBound, free.lowerBound)
            guard between.count < Self.minimumGap, first.count < Self.maximumRangeSize,
                !taken.contains(where: { $0.overlaps(between) })
            else { break }
            joined = first.lowerBound..<free.upperBound
        }
        return joined.map { $0.lowerBound..<min($0.upperBound, $0.lowerBound + Self.maximumRangeSize) }
    }

    /// Copies the ranges that the system has downloaded in the background into the pack's files. Skips a range if bytes
    /// before it in the same file are missing.
    func takeArrived() throws {
        partialPack.findArrived()
        for arrived in partialPack.arrivedRanges {
            let filledGaps = partialPack.gaps.filter { $0.archiveRange.overlaps(arrived.range) }
            guard filledGaps.allSatisfy({ $0.archiveRange.lowerBound >= arrived.range.lowerBound }) else { continue }
            if !filledGaps.isEmpty { try copyIntoFiles(arrived) }
            partialPack.remove(arrived)
        }
    }

    /// Copies a range that the system has downloaded into its files.
    private func copyIntoFiles(_ arrived: ArrivedRange) throws {
        let descriptor = open(arrived.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { _ = close(descriptor) }
        begin(arrived.range)
        defer { end() }
        var failure: (any Error)?
        _ = try Disk.read(0..<Int64(arrived.range.count), of: descriptor, arrived.path) { piece in
            guard failure == nil else { return }
            do {
                try Task.checkCancellation()
                try write(Data(piece))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Begins a range. Call `write` with its bytes next.
    func begin(_ range: Range<Int64>) {
        offset = range.lowerBound
        let parts = partialPack.gaps.map { gap -> PartialPack.Gap in (gap.file, gap.archiveRange.clamped(to: range)) }
        gaps = parts.filter { !$0.archiveRange.isEmpty }
    }

    /// Writes the next bytes of the range.
    func write(_ data: Data) throws {
        try confirm()
        var rest = data[...]
        while !rest.isEmpty, let gap = gaps.first {
            // The bytes before the next gap are on the device already.
            let skipped = Int(min(Int64(rest.count), max(0, gap.archiveRange.lowerBound - offset)))
            rest = rest.dropFirst(skipped)
            offset += Int64(skipped)
            let count = Int(min(Int64(rest.count), gap.archiveRange.upperBound - offset))
            guard count > 0 else { continue }
            try write(rest.prefix(count), to: gap.file, at: offset - partialPack.manifest.files[gap.file].offset)
            rest = rest.dropFirst(count)
            offset += Int64(count)
            if offset == gap.archiveRange.upperBound { gaps.removeFirst() }
        }
        offset += Int64(rest.count)
    }

    /// Ends the range, even if not all of its bytes were written.
    func end() {
        gaps = []
        closeFile()
    }

    /// Writes bytes to a file, and compares each chunk that is complete with its digest.
    private func write(_ data: Data, to fileIndex: Int, at position: Int64) throws {
        let file = partialPack.manifest.files[fileIndex]
        var data = data
        var position = position
        while !data.isEmpty {
            try openFile(fileIndex, at: position)
            guard let opened = currentFile else { return }
            let index = Int(position / PackManifest.chunkSize)
            let chunk = file.range(ofChunk: index)
            let piece = data.prefix(Int(min(Int64(data.count), chunk.upperBound - position)))
            try Disk.write(piece, to: opened.descriptor, at: position, opened.path)
            currentFile?.hash.update(piece)
            position += Int64(piece.count)
            currentFile?.position = position
            data = data.dropFirst(piece.count)
            partialPack.extend(fileIndex, to: position)
            guard position == chunk.upperBound else { continue }
            let isGood = opened.isHashed && currentFile?.hash.digest == file.chunks[index]
            currentFile?.hash = ContentHash()
            currentFile?.isHashed = true
            try note(PartialPack.Chunk(file: fileIndex, index: index), isGood: isGood)
            if position == file.size { closeFile() }
        }
    }

    /// Records whether a chunk has the right digest. Throws after too many downloads with wrong bytes.
    private func note(_ chunk: PartialPack.Chunk, isGood: Bool) throws {
        try partialPack.note(chunk, isGood: isGood)
        guard !isGood else { return }
        failures[chunk, default: 0] += 1
        if failures[chunk, default: 0] >= Self.maximumFailures { throw CorruptedContent() }
    }

    // MARK: Files

    /// Opens a file for writing at a position, and hashes the part of the chunk before it.
    private func openFile(_ fileIndex: Int, at position: Int64) throws(DiskFailure) {
        if let currentFile, currentFile.fileIndex == fileIndex, currentFile.position == position { return }
        closeFile()
        let path = partialPack.path(of: fileIndex)
        try Disk.makeFolder((path as NSString).deletingLastPathComponent)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw DiskFailure("create", path) }
        var opened = OpenFile(
            fileIndex: fileIndex, path: path, descriptor: descriptor, position: position, isHashed: true)
        // The chunk may have begun in an earlier range, or before a relaunch.
        let start = position / PackManifest.chunkSize * PackManifest.chunkSize
        do {
            opened.isHashed = try Disk.read(start..<position, of: descriptor, path) { opened.hash.update($0) }
        } catch {
            _ = close(descriptor)
            throw error
        }
        currentFile = opened
    }

    private func closeFile() {
        if let currentFile { _ = close(currentFile.descriptor) }
        currentFile = nil
    }

    // MARK: Installing

    /// Makes the empty files of the pack. No downloaded range has bytes for them.
    func makeEmptyFiles() throws(DiskFailure) {
        for (fileIndex, file) in partialPack.manifest.files.enumerated() where file.size == 0 {
            guard FileStatus(path: partialPack.path(of: fileIndex)) == nil else { continue }
            try openFile(fileIndex, at: 0)
            closeFile()
        }
    }

    /// Verifies the chunks that an earlier process wrote. Returns false if some chunks must be downloaded again.
    func verify() throws -> Bool {
        for (fileIndex, file) in partialPack.manifest.files.enumerated() {
            let unverified = file.chunks.indices.filter {
                !partialPack.verified.contains(PartialPack.Chunk(file: fileIndex, index: $0))
            }
            guard !unverified.isEmpty else { continue }
            let path = partialPack.path(of: fileIndex)
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else {
                partialPack.drop(fileIndex)
                continue
            }
            defer { _ = close(descriptor) }
            for index in unverified {
                try Task.checkCancellation()
                try confirm()
                var hash = ContentHash()
                let isWhole = try Disk.read(file.range(ofChunk: index), of: descriptor, path) { hash.update($0) }
                let isGood = isWhole && hash.digest == file.chunks[index]
                // The file is a hard link that another version shares. So remove the link, and don't write to it.
                if !isGood, (FileStatus(path: path)?.linkCount ?? 0) > 1 {
                    partialPack.drop(fileIndex)
                    break
                }
                try note(PartialPack.Chunk(file: fileIndex, index: index), isGood: isGood)
            }
        }
        return partialPack.gaps.isEmpty
    }

    /// Moves the files of the complete version into place, and makes it the installed version.
    ///
    /// - Parameter embedded: the version of this pack in the app's bundle; nil if the bundle doesn't have the pack.
    func install(in store: PackStore, embedded: ContentDigest?) throws {
        closeFile()
        try flush()
        try confirm()
        let versions = partialPack.packFolder + "/versions"
        try Disk.makeFolder(versions)
        try Disk.move(partialPack.filesFolder, to: versions + "/" + partialPack.plan.folder)
        try Disk.flushFolder(versions)
        try store.setInstalled(partialPack.plan, embedded: embedded, in: partialPack.packFolder)
    }

    /// Completes an installation that was interrupted after its files were moved into place. Returns false if there is
    /// no such installation.
    func finishInstallation(in store: PackStore, embedded: ContentDigest?) throws -> Bool {
        guard !Disk.exists(partialPack.filesFolder),
            Disk.exists(partialPack.packFolder + "/versions/" + partialPack.plan.folder)
        else { return false }
        try store.setInstalled(partialPack.plan, embedded: embedded, in: partialPack.packFolder)
        return true
    }

    /// Flushes the downloaded files and their folders to the disk.
    private func flush() throws(DiskFailure) {
        let reused = Set(partialPack.plan.reused)
        let written = partialPack.manifest.files.indices.filter { !reused.contains($0) }
        #if os(Linux)
            // Make one call for all files, because a call for each file would wait for the disk each time.
            if written.count > 100 {
                sync()
                return
            }
        #endif
        for fileIndex in written { try Disk.flushFile(partialPack.path(of: fileIndex)) }
        let folders = Set(written.map { (partialPack.path(of: $0) as NSString).deletingLastPathComponent })
        for folder in folders { try Disk.flushFolder(folder) }
    }
}

/// The error for a server that keeps sending bytes that don't match the manifest.
struct CorruptedContent: Error {}
