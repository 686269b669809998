import Foundation
import TenureContent
import TenurePolicyFile

/// The known packs of all sources.
struct Catalogs: Sendable {
    struct Entry: Sendable {
        let source: any Tenure.ContentSource
        let keys: [PinnedKey]
        var signed: SignedCatalog?
        var embedded: [String: EmbeddedPack] = [:]
        /// Whether it is known which packs it has: from this start, or from an earlier one.
        var isKnown = false
    }

    /// The preferred source first.
    private(set) var entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// Whether there is anything that names packs.
    var isEmpty: Bool { entries.allSatisfy { $0.signed == nil && $0.embedded.isEmpty } }

    /// Whether all sources have said which packs they have.
    var areComplete: Bool { entries.allSatisfy(\.isKnown) }

    /// Packs of the catalogs, each from the first source that has it.
    var packs: [ContentCatalog.Pack] {
        var seen: Set<String> = []
        return entries.flatMap { $0.signed?.catalog.packs ?? [] }.filter { seen.insert($0.name).inserted }
    }

    /// Packs in the app's bundle, each from the first source that has it.
    var embedded: [String: EmbeddedPack] {
        entries.reduce(into: [:]) { $0.merge($1.embedded) { first, _ in first } }
    }

    func pack(_ name: String) -> ContentCatalog.Pack? { entries.lazy.compactMap { $0.signed?.catalog[name] }.first }

    func embedded(_ name: String) -> EmbeddedPack? { entries.lazy.compactMap { $0.embedded[name] }.first }

    /// The source that delivers a pack: the one with which its download began, or the first that has it.
    func source(of name: String, begunWith identifier: String?) -> (any Tenure.ContentSource)? {
        if let identifier, let begun = entries.first(where: { $0.source.identifier == identifier }) {
            return begun.source
        }
        return entries.first { $0.signed?.catalog[name] != nil }?.source
    }

    // MARK: Reading

    /// Takes what a source lists. Older catalogs change nothing.
    ///
    /// - Returns: the newest catalog, if it is another one than before.
    /// - Throws: `ContentError` for the first listing that can't be used, after all others were taken.
    mutating func take(
        _ listings: [Tenure.ContentListing], at index: Int, bundleID: String?
    ) throws(ContentError) -> SignedCatalog? {
        guard entries.indices.contains(index) else { return nil }
        let before = entries[index].signed
        var problem: ContentError?
        var embedded: [String: EmbeddedPack] = [:]
        for listing in listings {
            do throws(ContentError) {
                switch listing {
                case .catalog(let text):
                    try take(try SignedCatalog.verify(text, keys: entries[index].keys, bundleID: bundleID), at: index)
                case .folder(let folder): embedded.merge(try EmbeddedPack.all(in: folder)) { first, _ in first }
                }
            } catch {
                problem = problem ?? error
            }
        }
        entries[index].embedded = embedded
        // A folder in the app's bundle that can't be read stays so.
        entries[index].isKnown =
            problem == nil || entries[index].signed != nil || entries[index].source is BundledContent
        if let problem { throw problem }
        return entries[index].signed?.text == before?.text ? nil : entries[index].signed
    }

    private mutating func take(_ news: SignedCatalog, at index: Int) throws(ContentError) {
        if let known = entries[index].signed {
            guard news.counter >= known.counter else { throw .older(counter: news.counter, known: known.counter) }
            guard news.counter > known.counter || news.catalog == known.catalog else {
                throw .sameCounter(news.counter)
            }
        }
        entries[index].signed = news
    }

    /// Notes that a source has no catalog. A catalog that it had before still counts.
    mutating func noteNoCatalog(at index: Int) {
        if entries.indices.contains(index) { entries[index].isKnown = true }
    }

    // MARK: Storing

    /// Reads the catalogs that were stored, and the packs in the bundle.
    mutating func restore(from folder: URL, bundleID: String?) {
        for index in entries.indices {
            var listings: [Tenure.ContentListing] = []
            if let text = Disk.contents(of: path(at: index, in: folder), most: SignedCatalog.largestText) {
                listings.append(.catalog(text))
            }
            if let bundled = entries[index].source as? BundledContent { listings += bundled.list() }
            guard !listings.isEmpty else { continue }
            _ = try? take(listings, at: index, bundleID: bundleID)
        }
    }

    /// Writes the catalog of a source for the next start. Another process may have written a newer one.
    func store(at index: Int, in folder: URL, bundleID: String?) throws(DiskFailure) {
        guard let signed = entries[index].signed else { return }
        let path = path(at: index, in: folder)
        let stored = Disk.contents(of: path, most: SignedCatalog.largestText)
        let newer = stored.flatMap { try? SignedCatalog.verify($0, keys: entries[index].keys, bundleID: bundleID) }
        guard newer.map({ $0.counter < signed.counter }) ?? true else { return }
        try ContentLocation.make(folder)
        try ContentLocation.make(folder.appendingPathComponent(Self.folderName, isDirectory: true))
        try Disk.replace(path, with: Data(signed.text.utf8))
    }

    static let folderName = "catalogs"

    private func path(at index: Int, in folder: URL) -> String {
        let name = ContentDigest(of: Data(entries[index].source.identifier.utf8)).description.prefix(32)
        return folder.path + "/\(Self.folderName)/\(name).jws"
    }
}
