import Foundation

/// The signing keys of a running service, which follow the file: a rotation needs no restart.
///
/// Unchecked: the lock guards all that changes.
final class SigningKeys: @unchecked Sendable {
    private let store: SigningKeyStore
    /// For so long a change of the file may go unnoticed.
    private let staleness: Swift.Duration
    private let lock = NSLock()
    private var keys: SigningKeySet
    private var bytes: [UInt8]
    private var readAt = ContinuousClock.now
    private var isReading = false
    private var problem: ServiceError?

    static let usualStaleness = Swift.Duration.seconds(1)

    /// Reads the keys.
    ///
    /// - Parameters:
    ///   - creating: creates the first key if there is none. A service that has customers must not: their apps trust the
    ///     missing one, and would believe nothing that another one signs.
    ///   - tokenLife: how long entitlement tokens live, in seconds.
    init(
        folder: String, creating: Bool, tokenLife: TimeInterval, staleness: Swift.Duration = usualStaleness,
        at now: Date
    ) throws(ServiceError) {
        store = SigningKeyStore(folder: folder)
        self.staleness = staleness
        guard creating || store.exists else {
            throw .keyFile(
                path: store.path,
                detail: """
                    it is missing, and the database has customers, whose apps trust its keys; restore it from your \
                    backup, or, if no app trusts them yet, start once with a new database
                    """)
        }
        (keys, bytes) = try store.readOrCreate(at: now)
        if keys.file.mustRemember(tokenLife: tokenLife) {
            try store.remember(tokenLife: tokenLife)
            (keys, bytes) = try store.readOrCreate(at: now)
        }
    }

    /// The keys as the file has them, or had them a moment ago.
    var current: SigningKeySet {
        refresh()
        lock.lock()
        defer { lock.unlock() }
        return keys
    }

    /// Why the file can't be read now. The keys that were read before stay in use.
    var failure: ServiceError? {
        refresh()
        lock.lock()
        defer { lock.unlock() }
        return problem
    }

    /// One caller reads; the others go on with what is known, so that a slow disk holds up one request.
    private func refresh() {
        lock.lock()
        let isDue = !isReading && ContinuousClock.now - readAt >= staleness
        if isDue { isReading = true }
        let known = bytes
        lock.unlock()
        guard isDue else { return }
        var found: (keys: SigningKeySet, bytes: [UInt8])?
        var failure: ServiceError?
        do throws(ServiceError) {
            found = try store.read(unless: known)
        } catch {
            failure = error
        }
        lock.lock()
        defer { lock.unlock() }
        if let found { (keys, bytes) = found }
        problem = failure
        readAt = ContinuousClock.now
        isReading = false
    }
}
