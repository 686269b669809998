import Foundation
import TenureContent
import TenureCore

/// A version of a pack that isn't complete: what is here of it, and what is missing.
///
/// ```
/// partial/plan.json    the version, the name of its later folder, and the files that were taken from other versions
/// partial/bad.json     chunks that arrived with wrong bytes
/// partial/files/…      the files; each is as long as what has arrived of it
/// ```
///
/// The length of a file says how much of it is here, so that a process that dies leaves no claim without bytes. Bytes of
/// which this process hasn't seen the digest are read again before they are installed: after a loss of power, a file may
/// be long enough and have other bytes.
struct PartialPack {
    static let folderName = "partial"

    struct Plan: Codable, Sendable {
        /// The digest of the manifest.
        let version: String
        /// The name of the version's folder, once it is installed.
        let folder: String
        /// Places in the manifest of files that were already on the device.
        let reused: [Int]
    }

    struct Chunk: Codable, Hashable, Sendable {
        /// The file's place in the manifest.
        let file: Int
        let index: Int
    }

    let version: ContentDigest
    let manifest: PackManifest
    let plan: Plan
    /// The pack's folder.
    let packFolder: String
    private let reused: Set<Int>
    /// How much of each file is here, from its start.
    private(set) var lengths: [Int64]
    private(set) var bad: Set<Chunk>
    /// Chunks of which this process has seen the digest.
    private(set) var verified: Set<Chunk> = []

    var folder: String { packFolder + "/" + Self.folderName }
    var filesFolder: String { folder + "/files" }
    func path(of file: Int) -> String { filesFolder + "/" + manifest.files[file].path }

    static func plan(in packFolder: String) -> Plan? {
        guard let data = Disk.contents(of: packFolder + "/\(folderName)/plan.json", most: 1 << 20),
            let plan = try? JSONDecoder().decode(Plan.self, from: data), PackStore.isFolderName(plan.folder)
        else { return nil }
        return plan
    }

    /// Continues what was begun. Nil if nothing was, or of another version.
    init?(_ version: ContentDigest, _ manifest: PackManifest, in packFolder: String) {
        guard let plan = Self.plan(in: packFolder), plan.version == version.description,
            plan.reused.allSatisfy(manifest.files.indices.contains)
        else { return nil }
        self.version = version
        self.manifest = manifest
        self.plan = plan
        self.packFolder = packFolder
        reused = Set(plan.reused)
        lengths = []
        bad = []
        let stored = Disk.contents(of: folder + "/bad.json", most: 1 << 20)
        bad = Set(stored.flatMap { try? JSONDecoder().decode([Chunk].self, from: $0) } ?? [])
            .filter {
                manifest.files.indices.contains($0.file) && manifest.files[$0.file].chunks.indices.contains($0.index)
            }
        for (place, file) in manifest.files.enumerated() {
            let here = FileStatus(path: path(of: place))
            // Nothing is ever written to a file with another name: an installed version has it, too.
            let isUsable = here.map { $0.size == file.size || $0.size < file.size && $0.names == 1 } ?? false
            if !isUsable, here != nil { Disk.remove(path(of: place)) }
            lengths.append(isUsable ? here?.size ?? 0 : 0)
        }
    }

    /// Begins a version: takes the files that `known` finds on the device, so that only the others are missing.
    static func begin(
        _ version: ContentDigest, _ manifest: PackManifest, in packFolder: String, reusing known: ReusableFiles
    ) throws -> PartialPack {
        let folder = packFolder + "/" + folderName
        Disk.remove(folder)
        try Disk.makeFolder(folder + "/files")
        var reused: [Int] = []
        for (place, file) in manifest.files.enumerated() where file.size > 0 {
            try Task.checkCancellation()
            guard let source = known.path(of: file) else { continue }
            let path = folder + "/files/" + file.path
            try Disk.makeFolder((path as NSString).deletingLastPathComponent)
            // A file system without hard links gets the file from the network.
            if (try? Disk.link(source, as: path)) != nil { reused.append(place) }
        }
        let plan = Plan(
            version: version.description, folder: PackStore.newFolderName(for: version), reused: reused)
        // Last: a folder without a plan is begun anew.
        try Disk.replace(folder + "/plan.json", with: JSONEncoder().encode(plan))
        guard var partial = PartialPack(version, manifest, in: packFolder) else {
            throw DiskFailure.failed("cannot read what was just written in `\(folder)`")
        }
        for place in reused { partial.verified.formUnion(partial.chunks(of: place)) }
        return partial
    }

    static func discard(in packFolder: String) { Disk.remove(packFolder + "/" + folderName) }

    // MARK: What is here, and what is missing

    private func chunks(of file: Int) -> [Chunk] {
        manifest.files[file].chunks.indices.map { Chunk(file: file, index: $0) }
    }

    /// The bytes that this download transfers in all. The same after a relaunch.
    var total: Int64 {
        manifest.files.enumerated().reduce(0) { reused.contains($1.offset) ? $0 : $0 + $1.element.size }
    }

    /// Those of them that have arrived. Chunks with wrong bytes count until they are replaced: progress never goes back.
    var bytes: Int64 {
        zip(manifest.files.indices, lengths).reduce(0) { reused.contains($1.0) ? $0 : $0 + $1.1 }
    }

    /// Bytes still to be transferred.
    var missingBytes: Int64 { missing.reduce(0) { $0 + Int64($1.archiveRange.count) } }

    /// Missing bytes of one file, by their place in the archive.
    struct Gap: Sendable {
        let file: Int
        let archiveRange: Range<Int64>
    }

    /// In order of the archive.
    var missing: [Gap] {
        var badByFile: [Int: [Int]] = [:]
        for chunk in bad { badByFile[chunk.file, default: []].append(chunk.index) }
        var gaps: [Gap] = []
        for (place, file) in manifest.files.enumerated() {
            for index in (badByFile[place] ?? []).sorted() {
                let range = file.range(ofChunk: index)
                // What isn't here at all is part of the rest.
                let end = min(range.upperBound, lengths[place])
                if range.lowerBound < end {
                    gaps.append(Gap(file: place, archiveRange: file.offset + range.lowerBound..<file.offset + end))
                }
            }
            if lengths[place] < file.size {
                gaps.append(
                    Gap(file: place, archiveRange: file.offset + lengths[place]..<file.offset + file.size))
            }
        }
        return gaps
    }

    // MARK: Changes

    /// Notes that a file has grown.
    mutating func extend(_ file: Int, to length: Int64) { lengths[file] = max(lengths[file], length) }

    /// Notes what came of comparing a chunk with its digest.
    mutating func note(_ chunk: Chunk, isGood: Bool) throws(DiskFailure) {
        if isGood { verified.insert(chunk) }
        let isNew = isGood ? bad.remove(chunk) != nil : bad.insert(chunk).inserted
        guard isNew else { return }
        let chunks = bad.sorted { ($0.file, $0.index) < ($1.file, $1.index) }
        try Disk.replace(
            folder + "/bad.json", with: (try? JSONEncoder().encode(chunks)) ?? Data(), isLasting: false)
    }

    /// Forgets a file that was taken from elsewhere and has other bytes than it should.
    mutating func drop(_ file: Int) {
        Disk.remove(path(of: file))
        lengths[file] = 0
        for chunk in chunks(of: file) { verified.remove(chunk) }
    }
}
