package import Foundation

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
