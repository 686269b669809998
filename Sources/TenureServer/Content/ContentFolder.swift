import TenureContent
import TenureCore
import TenureFileAttributes
import TenureFiles
import TenureStore

/// The folder with the published asset packs, and its catalog. The catalog is reloaded when its file changes.
///
/// The catalog in use isn't replaced if the new catalog is missing, invalid, for another app or older. Each publication
/// raises the catalog's counter, so another catalog with the same counter isn't used either.
final class ContentFolder: Sendable {
    let path: String
    private let bundleID: String
    /// How long a new catalog may go unnoticed.
    private let staleness: Swift.Duration
    private let state = Locked(State())

    init(path: String, bundleID: String, staleness: Swift.Duration = ServiceConfiguration.defaultStaleness) {
        self.path = path
        self.bundleID = bundleID
        self.staleness = staleness
    }

    /// The newest valid catalog; nil if no catalog was valid since the service started.
    var catalog: SignedCatalog? {
        refresh()
        return state.withLock { $0.catalogInUse }
    }

    /// Why the catalog in the folder isn't used; nil if the catalog is used.
    var failure: ServiceError? {
        refresh()
        return state.withLock { $0.failure }
    }

    /// Reads the file again if the file changed, and if the last check was at least `staleness` ago. Only one caller
    /// checks and reads the file. The other callers use the catalog in use, so that a slow disk delays only one
    /// request.
    private func refresh() {
        let isDue = state.withLock { $0.beginCheck(staleness: staleness) }
        guard isDue else { return }
        let file = "\(path)/\(SignedCatalog.fileName)"
        let fileState = FileState(path: file, followsLinks: true)
        // A missing file is always treated as changed, so that it is reported.
        let isUnchanged = state.withLock { fileState != nil && fileState == $0.checkedFile }
        let newCatalog = isUnchanged ? nil : read(file)
        state.withLock { state in
            if let newCatalog { state.useCatalog(newCatalog) }
            state.endCheck(of: fileState)
        }
    }

    private func read(_ file: String) -> Result<SignedCatalog, ServiceError> {
        do {
            guard let contents = try WholeFile(path: file).read(maximumSize: SignedCatalog.maximumTextSize) else {
                return .failure(.content("there is no `\(file)`; publish asset packs with `tenure content publish`"))
            }
            // Clients verify the signature. Verifying it here too would protect nothing: anyone who can change the
            // file on this machine can also change this service.
            return .success(try SignedCatalog.unverified(contents, bundleID: bundleID))
        } catch {
            return .failure(.content("\(error)"))
        }
    }

    fileprivate static func failure(_ error: ContentError) -> ServiceError { .content(error.description) }
}

private struct State {
    /// The catalog in use.
    private(set) var catalogInUse: SignedCatalog?
    /// Why the catalog in the folder isn't used; nil if it is used.
    private(set) var failure: ServiceError?
    /// The identity and date of the file that was read last, even if its catalog can't be used. Nil before the first
    /// check, and if the file was missing.
    private(set) var checkedFile: FileState?
    /// When the file was last checked; nil before the first check.
    private var checkedAt: ContinuousClock.Instant?
    private var isChecking = false

    /// Returns whether the caller has to check the file. If so, the caller must call `endCheck` later.
    mutating func beginCheck(staleness: Swift.Duration) -> Bool {
        if isChecking { return false }
        if let checkedAt, ContinuousClock.now - checkedAt < staleness { return false }
        isChecking = true
        return true
    }

    /// Stores that the file was checked; `file` is nil if it was missing.
    mutating func endCheck(of file: FileState?) {
        checkedFile = file
        checkedAt = ContinuousClock.now
        isChecking = false
    }

    /// Uses the catalog that was read, unless it is older than the catalog in use, or has the same counter and other
    /// contents. Stores why a catalog isn't used.
    mutating func useCatalog(_ newCatalog: Result<SignedCatalog, ServiceError>) {
        switch newCatalog {
        case .failure(let error): failure = error
        case .success(let catalog):
            if let known = catalogInUse, catalog.counter < known.counter {
                failure = ContentFolder.failure(.older(counter: catalog.counter, known: known.counter))
            } else if let known = catalogInUse, catalog.counter == known.counter, catalog.catalog != known.catalog {
                failure = ContentFolder.failure(.sameCounter(known.counter))
            } else {
                catalogInUse = catalog
                failure = nil
            }
        }
    }
}
