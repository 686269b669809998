import Foundation
import TenureContent
import TenureCore
import TenureFiles

/// A version of a pack that isn't complete: what is here of it, and what is missing.
///
/// ```
/// partial/plan.json    the version, the name of its later folder, and the files that were taken from other versions
/// partial/bad.json     chunks that arrived with wrong bytes
/// partial/files/…      the files; each is as long as what has arrived of it
/// partial/ranges/…     see `ArrivedRange`
/// ```
///
/// The length of a file says how much of it is here, so that a process that dies leaves no claim without bytes. Bytes
/// of which this process hasn't seen the digest are read again before they are installed: after a loss of power, a file
/// may be long enough and have other bytes.
struct PartialPack {
    static let folderName = "partial"

    struct Plan: Codable, Sendable, Hashable {
        let description: PackDescription
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
    /// Ranges of the archive that the system has downloaded, in order. They aren't in their files yet.
    private(set) var arrived: [ArrivedRange]
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
        guard let plan = Self.plan(in: packFolder), plan.description.manifest == version.description,
            plan.reused.allSatisfy(manifest.files.indices.contains)
        else { return nil }
        self.version = version
        self.manifest = manifest
        self.plan = plan
        self.packFolder = packFolder
        reused = Set(plan.reused)
        lengths = []
        bad = []
        arrived = ArrivedRange.all(in: packFolder + "/" + Self.folderName, of: manifest.archiveSize)
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
    ///
    /// What has arrived of another version counts, too.
    static func begin(
        _ description: PackDescription, _ manifest: PackManifest, in packFolder: String, reusing known: ReusableFiles
    ) throws -> PartialPack {
        let folder = packFolder + "/" + folderName
        Disk.remove(folder)
        try Disk.makeFolder(folder + "/files")
        var reused: [Int] = []
        for (place, file) in manifest.files.enumerated() where file.size > 0 {
            try Task.checkCancellation()
            let path = folder + "/files/" + file.path
            if try known.put(file, at: path) {
                reused.append(place)
            } else {
                try known.putBeginning(of: file, at: path)
            }
        }
        let plan = Plan(
            description: description, folder: PackStore.newFolderName(for: description.manifest), reused: reused)
        // Last: a folder without a plan is begun again.
        try Disk.replace(folder + "/plan.json", with: JSONEncoder().encode(plan))
        guard let version = ContentDigest(description.manifest),
            var partial = PartialPack(version, manifest, in: packFolder)
        else { throw DiskFailure.failed("cannot read what was just written in `\(folder)`") }
        for place in reused { partial.verified.formUnion(partial.chunks(of: place)) }
        Disk.remove(packFolder + "/" + oldFolderName)
        return partial
    }

    static func discard(in packFolder: String) {
        // First the plan: without it, nothing was begun, whatever else is left.
        Disk.remove(packFolder + "/\(folderName)/plan.json")
        Disk.remove(packFolder + "/" + folderName)
        Disk.remove(packFolder + "/" + oldFolderName)
    }

    // MARK: Versions that are given up

    static let oldFolderName = "old"

    /// Gives a version up. What has arrived of it stays for the next one.
    static func setAside(in packFolder: String) throws(DiskFailure) {
        guard plan(in: packFolder) != nil else { return }
        Disk.remove(packFolder + "/" + oldFolderName)
        try Disk.rename(packFolder + "/" + folderName, to: packFolder + "/" + oldFolderName)
    }

    /// The files of a version that was given up, in the form of an installed one.
    static func old(in packFolder: String, _ store: PackStore) -> InstalledPack? {
        let folder = packFolder + "/" + oldFolderName
        guard let data = Disk.contents(of: folder + "/plan.json", most: 1 << 20),
            let plan = try? JSONDecoder().decode(Plan.self, from: data),
            let version = ContentDigest(plan.description.manifest),
            let manifest = store.manifest(version, inFolder: packFolder)
        else { return nil }
        return InstalledPack(
            version: version, manifest: manifest, path: folder + "/files", folder: oldFolderName,
            description: plan.description, embedded: nil)
    }

    // MARK: What is here, and what is missing

    private func chunks(of file: Int) -> [Chunk] {
        manifest.files[file].chunks.indices.map { Chunk(file: file, index: $0) }
    }

    /// The bytes that this download transfers in all. The same after a relaunch.
    var total: Int64 {
        manifest.files.enumerated().reduce(0) { reused.contains($1.offset) ? $0 : $0 + $1.element.size }
    }

    /// Those of them that have arrived. Chunks with wrong bytes count until they are replaced: progress never goes
    /// back.
    var bytes: Int64 {
        let inFiles = zip(manifest.files.indices, lengths).reduce(Int64(0)) { reused.contains($1.0) ? $0 : $0 + $1.1 }
        guard !arrived.isEmpty else { return inFiles }
        let rests = manifest.files.indices.compactMap { rest(of: $0)?.archiveRange }
        return inFiles + rests.reduce(0) { $0 + bytes(arrivedIn: $1) }
    }

    private func bytes(arrivedIn range: Range<Int64>) -> Int64 {
        arrived.reduce(0) { $0 + Int64(range.clamped(to: $1.range).count) }
    }

    /// What is missing at the end of a file.
    private func rest(of place: Int) -> Gap? {
        let file = manifest.files[place]
        guard lengths[place] < file.size else { return nil }
        return Gap(file: place, archiveRange: file.offset + lengths[place]..<file.offset + file.size)
    }

    /// Bytes still to be transferred.
    var missingBytes: Int64 { missing.reduce(0) { $0 + Int64($1.count) } }

    /// Ranges of the archive still to be transferred, in order.
    var missing: [Range<Int64>] {
        let gaps = gaps.map(\.archiveRange)
        guard !arrived.isEmpty else { return gaps }
        return gaps.flatMap { $0.subtracting(arrived.map(\.range)) }
    }

    /// Missing bytes of one file, by their place in the archive.
    struct Gap: Sendable {
        let file: Int
        let archiveRange: Range<Int64>
    }

    /// What isn't in its file yet, in order of the archive.
    var gaps: [Gap] {
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
            if let rest = rest(of: place) { gaps.append(rest) }
        }
        return gaps
    }

    // MARK: Changes

    /// Looks for ranges that the system has downloaded since.
    mutating func findArrived() { arrived = ArrivedRange.all(in: folder, of: manifest.archiveSize) }

    /// Removes a range after its bytes were copied into their files.
    mutating func remove(_ range: ArrivedRange) {
        Disk.remove(range.path)
        arrived.removeAll { $0 == range }
    }

    /// Notes that a file has grown.
    mutating func extend(_ file: Int, to length: Int64) { lengths[file] = max(lengths[file], length) }

    /// Stores whether a chunk has the right digest.
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
