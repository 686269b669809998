import Foundation
import TenureCore

/// Stores the state in the keychain, or in a file if this process can't use the keychain.
///
/// A Mac app that was signed without a team can't use the data-protection keychain. If the keychain is only locked, no
/// file is used: the state in the keychain is read again after the device is unlocked.
struct FallbackStateStorage: StateStorage {
    let keychain: any StateStorage
    let file: any StateStorage
    let log: @Sendable (String) -> Void
    /// Whether the keychain has refused this process.
    private let isRefused = Locked(false)

    func read() throws -> Data? { try attempt { try $0.read() } }

    func update(_ change: (Data?) throws -> Data) throws { try attempt { try $0.update(change) } }

    func secret() throws -> Data { try attempt { try $0.secret() } }

    func remove() throws { try attempt { try $0.remove() } }

    /// Returns a log that writes only its first line. All storages of a process share this log, because the keychain
    /// refuses all of them for the same reason.
    static func loggingOnce(_ log: @escaping @Sendable (String) -> Void) -> @Sendable (String) -> Void {
        let isWritten = Locked(false)
        return { line in
            if !isWritten.exchange(true) { log(line) }
        }
    }

    /// Uses the keychain, or the file after the keychain has refused this process.
    private func attempt<Result>(_ operation: (any StateStorage) throws -> Result) throws -> Result {
        if isRefused.withLock({ $0 }) { return try operation(file) }
        do {
            return try operation(keychain)
        } catch let error as StateStorageError {
            guard case .refused = error else { throw error }
            if !isRefused.exchange(true) { log("\(error); the state is kept in a file that only its user can read") }
            return try operation(file)
        }
    }
}
