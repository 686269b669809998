import Foundation

/// Stores nothing, because the access group in the options can't be used.
struct UnavailableStateStorage: StateStorage {
    let error: StateStorageError

    func read() throws -> Data? { throw error }
    func update(_ change: (Data?) throws -> Data) throws { throw error }
    func secret() throws -> Data { throw error }
    func remove() throws { throw error }
}
