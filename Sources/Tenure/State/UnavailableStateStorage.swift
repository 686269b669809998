import Foundation

/// Keeps nothing, and says why: the access group of the options cannot be used.
struct UnavailableStateStorage: StateStorage {
    let error: StateStorageError

    func read() throws -> Data? { throw error }
    func update(_ change: (Data?) throws -> Data) throws { throw error }
    func secret() throws -> Data { throw error }
    func remove() throws { throw error }
}
