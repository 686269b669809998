import Foundation
import TenureCore

/// The signing keys of a running service. The keys are reloaded when the file changes, so a rotation needs no restart.
final class SigningKeys: Sendable {
    private let store: SigningKeyStore
    /// How long a change of the file may go unnoticed.
    private let staleness: Swift.Duration
    private let state: Locked<State>

    private struct State {
        var keys: SigningKeySet
        /// The file's bytes, to notice when they change.
        var bytes: [UInt8]
        var readAt = ContinuousClock.now
        var isReading = false
        /// Why the file couldn't be read the last time; nil if the file could be read.
        var failure: ServiceError?
        /// Whether another process has a newer key.
        var isOutdated = false
    }

    static let defaultStaleness = Swift.Duration.seconds(1)

    /// Reads the keys.
    ///
    /// - Parameters:
    ///   - creating: Whether to create the first key if the file doesn't exist. Must be false if the service has
    ///     customers, because their apps trust the key in the missing file and would reject tokens of a new key.
    ///   - tokenLife: The lifetime of entitlement tokens, in seconds.
    ///   - lastUsed: The machine and folder where a process last used the keys, for an error message; nil if unknown.
    init(
        folder: String, creating: Bool, tokenLife: TimeInterval, staleness: Swift.Duration = defaultStaleness,
        lastUsed: String? = nil, at now: Date
    ) throws(ServiceError) {
        store = SigningKeyStore(folder: folder)
        self.staleness = staleness
        guard creating || store.exists else {
            throw .keyFile(
                path: store.path,
                detail: """
                    the file is missing, although the database has customers with apps that trust its keys\
                    \(lastUsed.map { "; they were in `\($0)`" } ?? ""). If it is in another folder, set `keys` to that \
                    folder; each app below `apps` has its own. Otherwise restore it from your backup. If no app has \
                    pinned the keys yet, remove the database and start with a new one
                    """)
        }
        var (keys, bytes) = try store.readOrCreate(at: now)
        if keys.file.mustRemember(tokenLife: tokenLife) {
            try store.remember(tokenLife: tokenLife)
            (keys, bytes) = try store.readOrCreate(at: now)
        }
        state = Locked(State(keys: keys, bytes: bytes))
    }

    /// The keys in the file, at most `staleness` old.
    var current: SigningKeySet {
        refresh()
        return state.withLock { state in
            guard state.isOutdated else { return state.keys }
            var keys = state.keys
            keys.period = .outdated
            return keys
        }
    }

    /// Whether another process that uses the same database has a newer key. `KeyAgreement` sets this property. While it
    /// is true, this process issues no tokens.
    var isOutdated: Bool {
        get { state.withLock { $0.isOutdated } }
        set { state.withLock { $0.isOutdated = newValue } }
    }

    /// Reads the file now, even if it was read a moment ago.
    func reread() {
        state.withLock { $0.readAt = ContinuousClock.now - staleness }
        refresh()
    }

    /// Why the file can't be read now; nil if the file can be read. While the file can't be read, the previous keys
    /// stay in use.
    var failure: ServiceError? {
        refresh()
        return state.withLock { $0.failure }
    }

    /// Reads the file again, unless it was read less than `staleness` ago. Only one caller reads the file. The other
    /// callers use the keys that were read before, so that a slow disk delays only one request.
    private func refresh() {
        let lastBytes: [UInt8]? = state.withLock { state in
            guard !state.isReading, ContinuousClock.now - state.readAt >= staleness else { return nil }
            state.isReading = true
            return state.bytes
        }
        guard let lastBytes else { return }
        let result = Result { () throws(ServiceError) in try store.read(unless: lastBytes) }
        state.withLock { state in
            // The result has no keys if the file has the same bytes as before.
            if case .success(let changed?) = result { (state.keys, state.bytes) = changed }
            state.failure = if case .failure(let failure) = result { failure } else { nil }
            state.readAt = ContinuousClock.now
            state.isReading = false
        }
    }
}
