import Foundation
import TenureContent
import TenurePolicyFile

/// What all content sources have: the packs in their signed catalogs, and the packs in the app's bundle.
struct Catalogs: Sendable {
    /// A content source, and the packs that it has listed.
    struct Entry: Sendable {
        let source: any Tenure.ContentSource
        /// The keys that may sign the source's catalogs.
        let keys: [PinnedKey]
        /// The newest catalog of the source, if it has catalogs.
        var signedCatalog: SignedCatalog?
        /// The packs in the app's bundle by name, if the source is a folder in the bundle; otherwise empty.
        var embedded: [String: EmbeddedPack] = [:]
        /// Whether the source has listed its packs, in this or an earlier run of the app.
        var isKnown = false
    }

    /// The sources with their catalogs, the preferred source first.
    var entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// Whether the sources have neither a catalog nor packs in the app's bundle.
    var isEmpty: Bool { entries.allSatisfy { $0.signedCatalog == nil && $0.embedded.isEmpty } }

    /// Whether all sources have listed their packs.
    var areComplete: Bool { entries.allSatisfy(\.isKnown) }

    /// The packs of all catalogs. A pack in several catalogs is taken from the first source that has it.
    var packs: [ContentCatalog.Pack] {
        var names: Set<String> = []
        return entries.flatMap { $0.signedCatalog?.catalog.packs ?? [] }.filter { names.insert($0.name).inserted }
    }

    /// The packs in the app's bundle. A pack in several folders is taken from the first source that has it.
    var embedded: [String: EmbeddedPack] { entries.reduce(into: [:]) { $0.merge($1.embedded) { first, _ in first } } }

    /// Returns the pack with this name from the first catalog that contains it. Nil if no catalog does.
    func pack(_ name: String) -> ContentCatalog.Pack? {
        entries.lazy.compactMap { $0.signedCatalog?.catalog[name] }.first
    }

    /// Returns the pack with this name in the app's bundle. Nil if the bundle doesn't have it.
    func embedded(_ name: String) -> EmbeddedPack? { entries.lazy.compactMap { $0.embedded[name] }.first }

    /// Returns the source that delivers a pack: the source from which its download began, or the first with the pack in
    /// its catalog. Nil if there is no such source.
    ///
    /// - Parameter identifier: the identifier of the source from which the download began; nil if it hasn't begun.
    func source(of name: String, begunWith identifier: String?) -> (any Tenure.ContentSource)? {
        if let identifier, let begun = entries.first(where: { $0.source.identifier == identifier }) {
            return begun.source
        }
        return entries.first { $0.signedCatalog?.catalog[name] != nil }?.source
    }

    /// Reads the stored catalogs, and the packs in the app's bundle.
    mutating func restore(from folder: URL, bundleID: String?) {
        for index in entries.indices {
            let path = entries[index].path(in: folder)
            let text = Disk.contents(of: path, maximumSize: SignedCatalog.maximumTextSize)
            let bundled = (entries[index].source as? BundledContent)?.list() ?? []
            let listings = (text.map { [Tenure.ContentListing.catalog($0)] } ?? []) + bundled
            if !listings.isEmpty { _ = try? entries[index].apply(listings, bundleID: bundleID) }
        }
    }

    static let folderName = "catalogs"
}

extension Catalogs.Entry {
    /// Verifies what the source has listed, and keeps it. A catalog that is older than the known catalog is invalid.
    ///
    /// - Returns: whether the newest catalog changed.
    /// - Throws: `ContentError` for the first invalid listing, after all valid listings were applied.
    mutating func apply(_ listings: [Tenure.ContentListing], bundleID: String?) throws(ContentError) -> Bool {
        let before = signedCatalog
        var problem: ContentError?
        embedded = [:]
        for listing in listings {
            do throws(ContentError) {
                switch listing {
                case .catalog(let text): try apply(try SignedCatalog.verify(text, keys: keys, bundleID: bundleID))
                case .folder(let folder): embedded.merge(try EmbeddedPack.all(in: folder)) { first, _ in first }
                }
            } catch {
                problem = problem ?? error
            }
        }
        // The app's bundle doesn't change. So treat an unreadable folder there as listed, instead of waiting for it.
        isKnown = problem == nil || signedCatalog != nil || source is BundledContent
        if let problem { throw problem }
        return signedCatalog?.text != before?.text
    }

    /// Replaces the catalog. Throws if the new catalog is older than the known catalog, or has the same counter but
    /// other contents.
    private mutating func apply(_ new: SignedCatalog) throws(ContentError) {
        if let known = signedCatalog {
            guard new.counter >= known.counter else { throw .older(counter: new.counter, known: known.counter) }
            guard new.counter > known.counter || new.catalog == known.catalog else { throw .sameCounter(new.counter) }
        }
        signedCatalog = new
    }

    /// Stores the catalog for the next start, unless this or a newer catalog is stored already.
    func store(in folder: URL, bundleID: String?) throws(DiskFailure) {
        guard let signedCatalog else { return }
        let path = path(in: folder)
        let text = Disk.contents(of: path, maximumSize: SignedCatalog.maximumTextSize)
        let stored = text.flatMap { try? SignedCatalog.verify($0, keys: keys, bundleID: bundleID) }
        if let stored, stored.counter >= signedCatalog.counter { return }
        try ContentLocation.make(folder)
        try ContentLocation.make(folder.appendingPathComponent(Catalogs.folderName, isDirectory: true))
        try Disk.replace(path, with: Data(signedCatalog.text.utf8))
    }

    fileprivate func path(in folder: URL) -> String {
        let name = ContentDigest(of: Data(source.identifier.utf8)).description.prefix(32)
        return folder.path + "/\(Catalogs.folderName)/\(name).jws"
    }
}
