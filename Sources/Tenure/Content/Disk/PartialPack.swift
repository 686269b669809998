import Foundation
import TenureContent
import TenureFiles

/// A partly downloaded version of a pack: which bytes are on the device, and which are missing. The manifest lists the
/// version's files. The archive, from which ranges are downloaded, is one file with the contents of all these files.
///
/// ```
/// partial/plan.json    the version, the name of its future folder, and the files that were taken from other versions
/// partial/bad.json     chunks that were downloaded with wrong bytes
/// partial/files/…      the files; each is as long as its downloaded part
/// partial/ranges/…     ranges that the system has downloaded in the background: see `ArrivedRange`
/// ```
///
/// The length of a file tells how much of it is downloaded. The length is stored nowhere else, so it is right even if
/// the process is killed. Before the installation, chunks that this process hasn't verified are read and verified
/// again: after a loss of power, a file may have its full length but wrong bytes.
struct PartialPack {
    static let folderName = "partial"

    /// The version that is being downloaded, stored as `plan.json`.
    struct Plan: Codable, Sendable, Hashable {
        /// What the catalog said about this version when its download began.
        let description: PackDescription
        /// The name of the version's folder, once it is installed.
        let folder: String
        /// The indices, in the manifest, of files that were already on the device.
        let reused: [Int]
    }

    /// A part of a file, which has its own digest in the manifest: `PackManifest.chunkSize` bytes, or fewer at the end
    /// of the file.
    struct Chunk: Codable, Hashable, Sendable {
        /// The index of the file in the manifest.
        let file: Int
        /// The index of the chunk in the file.
        let index: Int
    }

    /// The digest of the manifest, which identifies the version.
    let version: ContentDigest
    let manifest: PackManifest
    let plan: Plan
    /// The pack's folder.
    let packFolder: String
    /// The indices, in the manifest, of files that were already on the device when the download began.
    private let reusedFiles: Set<Int>
    /// How many bytes of each file are written, from its start, in the order of the manifest.
    private(set) var lengths: [Int64] = []
    /// Chunks that were downloaded with wrong bytes.
    private(set) var badChunks: Set<Chunk> = []
    /// Ranges of the archive that the system has downloaded, in order. Their bytes aren't in the pack's files yet.
    private(set) var arrivedRanges: [ArrivedRange]
    /// Chunks that this process has compared with their digests.
    private(set) var verified: Set<Chunk> = []

    var folder: String { packFolder + "/" + Self.folderName }
    var filesFolder: String { folder + "/files" }
    /// Returns the path of the file with this index in the manifest.
    func path(of file: Int) -> String { filesFolder + "/" + manifest.files[file].path }

    /// Returns the plan of the download that was begun in a pack's folder. Nil if no download was begun.
    static func plan(in packFolder: String) -> Plan? {
        let plan = Disk.decoded(Plan.self, at: packFolder + "/\(folderName)/plan.json", maximumSize: 1 << 20)
        return plan.flatMap { PackStore.isFolderName($0.folder) ? $0 : nil }
    }

    /// Continues a download of this version. Nil if no such download was begun.
    init?(_ version: ContentDigest, _ manifest: PackManifest, in packFolder: String) {
        guard let plan = Self.plan(in: packFolder), plan.description.manifest == version.description,
            plan.reused.allSatisfy(manifest.files.indices.contains)
        else { return nil }
        self.version = version
        self.manifest = manifest
        self.plan = plan
        self.packFolder = packFolder
        reusedFiles = Set(plan.reused)
        arrivedRanges = ArrivedRange.all(in: packFolder + "/" + Self.folderName, of: manifest.archiveSize)
        let bad = Set(Disk.decoded([Chunk].self, at: folder + "/bad.json", maximumSize: 1 << 20) ?? [])
        badChunks = bad.filter {
            manifest.files.indices.contains($0.file) && manifest.files[$0.file].chunks.indices.contains($0.index)
        }
        for (fileIndex, file) in manifest.files.enumerated() {
            let status = FileStatus(path: path(of: fileIndex))
            // Never write to a file with a second hard link: an installed version has the same file.
            let isUsable = status.map { $0.size == file.size || ($0.size < file.size && $0.linkCount == 1) } ?? false
            if !isUsable, status != nil { Disk.remove(path(of: fileIndex)) }
            lengths.append(isUsable ? (status?.size ?? 0) : 0)
        }
    }

    /// Begins the download of a version. Files among `reusableFiles` aren't downloaded. These files include the
    /// downloaded parts of the version that the new version replaces.
    static func begin(
        _ description: PackDescription, _ manifest: PackManifest, in packFolder: String,
        reusing reusableFiles: ReusableFiles
    ) throws -> PartialPack {
        let folder = packFolder + "/" + folderName
        Disk.remove(folder)
        try Disk.makeFolder(folder + "/files")
        var reused: [Int] = []
        for (fileIndex, file) in manifest.files.enumerated() where file.size > 0 {
            try Task.checkCancellation()
            let path = folder + "/files/" + file.path
            if try reusableFiles.put(file, at: path) {
                reused.append(fileIndex)
            } else {
                try reusableFiles.putBeginning(of: file, at: path)
            }
        }
        let plan = Plan(
            description: description, folder: PackStore.newFolderName(for: description.manifest), reused: reused)
        // Write the plan last: if the process is killed before, the download begins again.
        try Disk.replace(folder + "/plan.json", with: JSONEncoder().encode(plan))
        guard let version = ContentDigest(description.manifest),
            var partial = PartialPack(version, manifest, in: packFolder)
        else { throw DiskFailure.failed("can't read what was just written in `\(folder)`") }
        for fileIndex in reused { partial.verified.formUnion(partial.chunks(of: fileIndex)) }
        Disk.remove(packFolder + "/" + oldFolderName)
        return partial
    }

    /// Removes everything that was downloaded of a version, and the plan.
    static func discard(in packFolder: String) {
        // Remove the plan first: if there is no plan, a new download begins, even if removing the rest fails.
        Disk.remove(packFolder + "/\(folderName)/plan.json")
        Disk.remove(packFolder + "/" + folderName)
        Disk.remove(packFolder + "/" + oldFolderName)
    }

    // MARK: Replaced versions

    /// The folder with a partly downloaded version that a newer version replaces.
    static let oldFolderName = "old"

    /// Moves a partly downloaded version to the folder `old` before the download of a newer version begins, so that the
    /// newer version can take its downloaded files.
    static func setAside(in packFolder: String) throws(DiskFailure) {
        guard plan(in: packFolder) != nil else { return }
        Disk.remove(packFolder + "/" + oldFolderName)
        try Disk.move(packFolder + "/" + folderName, to: packFolder + "/" + oldFolderName)
    }

    /// Returns the version that `setAside` moved, in the form of an installed version, so that a newer version can take
    /// its downloaded files. Nil if no version was moved.
    static func setAsideVersion(in packFolder: String, _ store: PackStore) -> InstalledPack? {
        let folder = packFolder + "/" + oldFolderName
        guard let plan = Disk.decoded(Plan.self, at: folder + "/plan.json", maximumSize: 1 << 20),
            let version = ContentDigest(plan.description.manifest),
            let manifest = store.manifest(version, inFolder: packFolder)
        else { return nil }
        return InstalledPack(
            version: version, manifest: manifest, path: folder + "/files", folder: oldFolderName,
            description: plan.description, embedded: nil)
    }

    // MARK: Downloaded and missing bytes

    /// Returns all chunks of the file with this index in the manifest.
    private func chunks(of file: Int) -> [Chunk] {
        manifest.files[file].chunks.indices.map { Chunk(file: file, index: $0) }
    }

    /// The number of bytes that this download transfers in all. It is the same after a relaunch.
    var totalBytes: Int64 {
        manifest.files.enumerated().reduce(0) { reusedFiles.contains($1.offset) ? $0 : $0 + $1.element.size }
    }

    /// The number of bytes downloaded so far. Includes chunks with wrong bytes, so that progress never decreases.
    var downloadedBytes: Int64 {
        let inFiles = zip(manifest.files.indices, lengths).reduce(Int64(0)) { sum, next in
            let (file, length) = next
            return reusedFiles.contains(file) ? sum : sum + length
        }
        guard !arrivedRanges.isEmpty else { return inFiles }
        // Add the bytes of missing ends that the system has downloaded.
        let missingEnds = manifest.files.indices.compactMap { missingEnd(of: $0)?.archiveRange }
        let arrived = missingEnds.flatMap { end in arrivedRanges.map { Int64(end.clamped(to: $0.range).count) } }
        return arrived.reduce(inFiles, +)
    }

    /// Returns the missing bytes at the end of a file. Nil if its end isn't missing.
    private func missingEnd(of fileIndex: Int) -> Gap? {
        let file = manifest.files[fileIndex]
        guard lengths[fileIndex] < file.size else { return nil }
        return (fileIndex, file.offset + lengths[fileIndex]..<file.offset + file.size)
    }

    /// The number of bytes that are still missing.
    var missingBytes: Int64 { missing.reduce(0) { $0 + Int64($1.count) } }

    /// The ranges of the archive that are still missing, in order.
    var missing: [Range<Int64>] {
        let gaps = gaps.map(\.archiveRange)
        guard !arrivedRanges.isEmpty else { return gaps }
        return gaps.flatMap { $0.subtracting(arrivedRanges.map(\.range)) }
    }

    /// Missing bytes of one file, as the index of the file in the manifest and a range of the archive.
    typealias Gap = (file: Int, archiveRange: Range<Int64>)

    /// The bytes that aren't in their files yet, in the order of the archive.
    var gaps: [Gap] {
        let badByFile = Dictionary(grouping: badChunks, by: \.file)
        var gaps: [Gap] = []
        for (fileIndex, file) in manifest.files.enumerated() {
            for index in (badByFile[fileIndex] ?? []).map(\.index).sorted() {
                let range = file.range(ofChunk: index)
                // A chunk that isn't downloaded at all is part of the file's missing end.
                let end = min(range.upperBound, lengths[fileIndex])
                if range.lowerBound < end {
                    gaps.append((fileIndex, file.offset + range.lowerBound..<file.offset + end))
                }
            }
            if let rest = missingEnd(of: fileIndex) { gaps.append(rest) }
        }
        return gaps
    }

    // MARK: Changes

    /// Finds ranges that the system has downloaded since the last call.
    mutating func findArrived() { arrivedRanges = ArrivedRange.all(in: folder, of: manifest.archiveSize) }

    /// Removes a range after its bytes were copied into their files.
    mutating func remove(_ range: ArrivedRange) {
        Disk.remove(range.path)
        arrivedRanges.removeAll { $0 == range }
    }

    /// Records that bytes were appended to a file.
    mutating func extend(_ file: Int, to length: Int64) { lengths[file] = max(lengths[file], length) }

    /// Records whether a chunk has the right digest, also on the disk.
    mutating func note(_ chunk: Chunk, isGood: Bool) throws(DiskFailure) {
        if isGood { verified.insert(chunk) }
        let isNew = isGood ? badChunks.remove(chunk) != nil : badChunks.insert(chunk).inserted
        guard isNew else { return }
        let chunks = badChunks.sorted { ($0.file, $0.index) < ($1.file, $1.index) }
        try Disk.replace(folder + "/bad.json", with: (try? JSONEncoder().encode(chunks)) ?? Data(), isLasting: false)
    }

    /// Removes a file that can't be opened, or shares wrong bytes with another version. It is downloaded again.
    mutating func drop(_ file: Int) {
        Disk.remove(path(of: file))
        lengths[file] = 0
        for chunk in chunks(of: file) { verified.remove(chunk) }
    }
}
