package import Foundation

/// The storage of what Tenure knows about the customer between two starts of the app, as bytes. The keychain outlives a
/// reinstallation of the app; a file doesn't.
package protocol StateStorage: Sendable {
    /// Returns the stored bytes. Nil if nothing was written yet. Throws if there may be a state that can't be read now,
    /// such as in the keychain before the device was first unlocked.
    func read() throws -> Data?
    /// Replaces the contents with the result of `change`, with a lock that keeps out other processes.
    ///
    /// The inter-process lock is held only for this call: iOS terminates apps that are suspended with a lock on a
    /// shared file. Throws without a change if the contents can't be read, so that an unreadable state is never
    /// replaced.
    func update(_ change: (Data?) throws -> Data) throws
    /// Returns the secret that seals the state: random bytes that stay on this device. The secret is created when it is
    /// first needed. The secret is empty if other apps can't access the storage.
    func secret() throws -> Data
    /// Removes the contents and the secret. Called after the state was moved to another storage.
    func remove() throws
}

/// Why the state can't be read or written.
enum StateStorageError: Error, Sendable, Hashable {
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
}

extension StateStorageError: CustomStringConvertible {
    package var description: String {
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
