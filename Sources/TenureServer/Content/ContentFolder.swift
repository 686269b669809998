import Foundation
import TenureContent
import TenureCore
import TenureStore

/// The published folder, whose catalog is read again when it changes.
///
/// A catalog that is missing, broken, of another app or older than the one that is known changes nothing.
///
/// Unchecked: the lock guards all that changes.
final class ContentFolder: @unchecked Sendable {
    let path: String
    private let bundleID: String
    /// For so long a new catalog may go unnoticed.
    private let staleness: Swift.Duration
    private let lock = NSLock()
    private var known: SignedCatalog?
    private var problem: ServiceError?
    /// The file that was read last, whether it was of use or not.
    private var seen: FileState?
    private var checkedAt: ContinuousClock.Instant?
    private var isChecking = false

    static let usualStaleness = Swift.Duration.seconds(1)

    init(path: String, bundleID: String, staleness: Swift.Duration = usualStaleness) {
        self.path = path
        self.bundleID = bundleID
        self.staleness = staleness
    }

    /// The newest catalog that could be used; nil if there was none since the service started.
    var catalog: SignedCatalog? {
        refresh()
        return lock.withLock { known }
    }

    /// Why the catalog in the folder isn't used; nil if it is.
    var failure: ServiceError? {
        refresh()
        return lock.withLock { problem }
    }

    /// One caller reads; the others go on with what is known, so that a slow disk holds up one request.
    private func refresh() {
        let isDue = lock.withLock {
            guard !isChecking, checkedAt.map({ ContinuousClock.now - $0 >= staleness }) ?? true else { return false }
            isChecking = true
            return true
        }
        guard isDue else { return }
        let file = "\(path)/\(SignedCatalog.fileName)"
        let state = FileState(path: file)
        // Without a file there is nothing that could be unchanged.
        let isUnchanged = lock.withLock { state != nil && state == seen }
        let found = isUnchanged ? nil : read(file)
        lock.withLock {
            if let found { take(found) }
            seen = state
            checkedAt = ContinuousClock.now
            isChecking = false
        }
    }

    private func take(_ found: Result<SignedCatalog, ServiceError>) {
        switch found {
        case .failure(let error): problem = error
        case .success(let catalog):
            guard let known else {
                self.known = catalog
                problem = nil
                return
            }
            if catalog.counter < known.counter {
                problem = Self.failure(.older(counter: catalog.counter, known: known.counter))
            } else if catalog.counter == known.counter, catalog.catalog != known.catalog {
                problem = Self.failure(.sameCounter(known.counter))
            } else {
                self.known = catalog
                problem = nil
            }
        }
    }

    private func read(_ file: String) -> Result<SignedCatalog, ServiceError> {
        let contents: WholeFile.Contents?
        do {
            contents = try WholeFile(path: file).read(most: SignedCatalog.largestText)
        } catch {
            return .failure(.content("\(error)"))
        }
        guard let contents else {
            return .failure(.content("there is no `\(file)`; publish asset packs with `tenure content publish`"))
        }
        do {
            // Clients verify the signature; who can write here could leave out the whole check.
            return .success(try SignedCatalog.unverified(contents.bytes, bundleID: bundleID))
        } catch {
            return .failure(Self.failure(error))
        }
    }

    private static func failure(_ error: ContentError) -> ServiceError { .content(error.description) }
}
