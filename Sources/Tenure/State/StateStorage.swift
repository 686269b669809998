package import Foundation

/// The storage of what Tenure knows about the customer between two starts of the app, as bytes. The keychain outlives a
/// reinstallation of the app; a file doesn't.
package protocol StateStorage: Sendable {
    /// Returns the stored bytes. Nil if nothing was written yet. Throws if there may be a state that can't be read now,
    /// such as in the keychain before the device was first unlocked.
    func read() throws -> Data?
    /// Replaces the contents with the result of `change`, with a lock that keeps out other processes.
    ///
    /// The lock is held only during this call, because iOS terminates apps that are suspended with a lock on a shared
    /// file. If the contents can't be read, this method throws and changes nothing.
    func update(_ change: (Data?) throws -> Data) throws
    /// Returns the secret that seals the state: random bytes that stay on this device. The secret is created when it is
    /// first needed. The secret is empty if other apps can't access the storage.
    func secret() throws -> Data
    /// Removes the contents and the secret. Called after the state was moved to another storage.
    func remove() throws
}

/// Why the state can't be read or written.
enum StateStorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The keychain is locked until the first unlock after a restart.
    case locked(operation: String)
    /// This process can't use the keychain, because the app lacks the entitlement.
    case refused(operation: String)
    /// Another failure of the keychain. `status` is an `OSStatus`.
    case failed(operation: String, status: Int32)
    /// Another process held the lock for longer than any write takes.
    case lockTimeout(path: String)
    /// The lock file can't be opened.
    case lockUnavailable(path: String, reason: String)

    var description: String {
        switch self {
        case .locked(let operation):
            "can't \(operation) the keychain before the device is unlocked; the client tries again after the unlock"
        case .refused(let operation):
            "can't \(operation) the keychain because the app lacks the entitlement (-34018); sign the app with a team"
        case .failed(let operation, let status):
            "can't \(operation) the keychain (status \(status)); the client tries again later"
        case .lockTimeout(let path): "another process has held `\(path)` for over 2 seconds; the client will retry"
        case .lockUnavailable(let path, let reason):
            "can't open the lock file `\(path)` (\(reason)); check its permissions"
        }
    }
}

/// The result of reading the stored state.
package enum StateReadResult: Sendable {
    /// The stored state.
    case state(StoredState)
    /// There is no state: it's the first start, or the first start after a reinstallation that removed the state.
    case missing
    /// The stored state is invalid, so the client ignores and replaces it.
    case rejected(reason: String)
    /// There may be a state that can't be read now, so the client must not replace it.
    case unreadable(reason: String)
}

extension StateStorage {
    /// Reads the stored state.
    ///
    /// - Parameter device: the hash of this device's verification ID. Nil if StoreKit doesn't provide the ID.
    package func load(device: String?) -> StateReadResult {
        do {
            return try decode(try read(), device: device)
        } catch {
            return .unreadable(reason: "\(error)")
        }
    }

    /// Replaces the stored state with the state that `change` returns, with a lock that keeps out other processes.
    package func update(device: String?, _ change: (StateReadResult) throws -> StoredState) throws {
        try update { bytes in
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let contents = try encoder.encode(try change(try decode(bytes, device: device)))
            return SealedState.seal(contents, with: try secret())
        }
    }

    /// Checks the seal of stored bytes (see `SealedState`), decodes the state, and checks that it is from this device.
    package func decode(_ bytes: Data?, device: String?) throws -> StateReadResult {
        guard let bytes else { return .missing }
        guard let contents = SealedState.open(bytes, with: try secret()) else {
            return .rejected(reason: "the state was changed or truncated, or is from another device")
        }
        guard let state = try? JSONDecoder().decode(StoredState.self, from: contents) else {
            return .rejected(reason: "another release of Tenure wrote the state in another format")
        }
        if let device, let theirs = state.device, device != theirs {
            return .rejected(reason: "the state is from another device")
        }
        guard !state.time.isImpossible else { return .rejected(reason: "the dates in the state contradict each other") }
        return .state(state)
    }
}
