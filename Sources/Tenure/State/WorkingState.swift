import Foundation

/// This process's copy of the stored state (what Tenure knows about the customer between two starts), merged with the
/// changes of other processes.
///
/// `init` reads nothing. `reload` reads the stored state; `save` and `update` write it. All three keep the changes of
/// other processes.
struct WorkingState: Sendable {
    /// The storages and files of the state. The state in `formerStorage`, the *private state*, is moved to `storage`.
    private let location: StateLocation
    /// The hash of the device ID. Nil if StoreKit doesn't provide the ID.
    private let device: String?
    private let distribution: Tenure.Distribution
    /// Whether this process may discard data that a differently installed copy of the app stored.
    private let ownsState: Bool
    /// The stored name of the persona (a test customer) that replaces the customer. Nil for the real customer.
    private let persona: String?
    /// The state with which this process began. Until a stored state was read, `current` is compared with this state to
    /// find this process's changes.
    private let initial: StoredState

    /// The state of this process.
    var current: StoredState
    /// The stored state when this process last read or wrote it. Nil if this process couldn't read a stored state.
    private(set) var stored: StoredState?
    /// Whether there may be a stored state that couldn't be read.
    private(set) var isUnreadable = false
    /// Why the private state couldn't be moved yet. Nil if it was moved, or if there is no private state.
    private(set) var moveFailure: String?

    init(
        _ location: StateLocation, device: String?, distribution: Tenure.Distribution, ownsState: Bool = true,
        persona: String?, clock: Date
    ) {
        self.location = location
        self.device = device
        self.distribution = distribution
        self.ownsState = ownsState
        self.persona = persona
        var state = StoredState(clock: clock)
        state.prepare(for: device, ownsState ? distribution : nil, at: clock)
        state.setPersona(persona)
        initial = state
        current = state
    }

    // MARK: Reading

    /// Reads the stored state and merges it. Call this when the client begins to read the App Store again, and after
    /// the device was unlocked.
    @discardableResult mutating func reload(at clock: Date) -> StateReadResult {
        let result = location.storage.load(device: device)
        switch result {
        case .state(let theirs):
            current = merged(with: theirs, at: clock)
            stored = theirs
            endGracePeriod()
        case .missing, .rejected:
            stored = nil
            endGracePeriod()
        case .unreadable:
            isUnreadable = true
            if let time = location.gracePeriod?.begin(at: clock) { current.time.countWaiting(from: time, at: clock) }
        }
        moveFormerState(at: clock)
        return result
    }

    /// Returns this process's state with the changes in a stored state.
    private func merged(with theirs: StoredState, at clock: Date) -> StoredState {
        var known = theirs
        known.prepare(for: device, ownsState ? distribution : nil, at: clock)
        var merged = current.merging(known, base: stored ?? initial, at: clock)
        // The app may use a persona, and its extension not. Keep this process's persona.
        merged.setPersona(persona)
        return merged
    }

    // MARK: Writing

    /// Writes the state of this process, if it differs enough from the stored state. Throws if the state can't be
    /// written.
    mutating func save(at clock: Date) throws {
        if let stored, stored.agrees(with: current) { return }
        try update(at: clock) { _ in }
    }

    /// Reads the stored state, changes it and writes it, with a lock that keeps out other processes. If `change`
    /// throws, nothing is written.
    @discardableResult
    mutating func update<Result>(
        at clock: Date, _ change: (inout StoredState) throws -> Result
    ) throws -> Result {
        let before = self
        var mergedState = current
        var storedState = stored
        var changedState = current
        var result: Result?
        do {
            try location.storage.update(device: device) { found in
                if case .state(let theirs) = found {
                    mergedState = before.merged(with: theirs, at: clock)
                    storedState = theirs
                }
                changedState = mergedState
                result = try change(&changedState)
                return changedState
            }
        } catch {
            // If `change` threw, still use what other processes have written.
            current = mergedState
            stored = storedState
            throw error
        }
        current = changedState
        stored = changedState
        endGracePeriod()
        // The storage has called `change` if it threw no error.
        guard let result else { throw StateStorageError.failed(operation: "update", status: 0) }
        return result
    }

    // MARK: Moving the private state to the shared storage

    /// Adds the private state to the shared state, and then removes the private state. After a failure, the next call
    /// tries again.
    private mutating func moveFormerState(at clock: Date) {
        guard let formerStorage = location.formerStorage else { return }
        do {
            guard let bytes = try formerStorage.read() else { return }
            let digest = SealedState.digest(of: bytes)
            let (device, distribution) = (device, distribution)
            try update(at: clock) { state in
                // An earlier start added this private state to the shared state, but couldn't remove the private state.
                guard state.moved?.contains(digest) != true else { return }
                if case .state(var formerState) = try formerStorage.decode(bytes, device: device) {
                    // A TestFlight build may have stored the private state.
                    formerState.prepare(for: device, distribution, at: clock)
                    state.add(formerState, at: clock)
                }
                state.moved = (state.moved ?? []) + [digest]
            }
            try formerStorage.remove()
            moveFailure = nil
        } catch {
            moveFailure = "\(error)"
            if case .state(var known) = formerStorage.load(device: device) {
                known.prepare(for: device, distribution, at: clock)
                // Use only the private state's evidence. Its trial sessions are added when the state is moved.
                current.account = current.account.merging(known.account, base: initial.account)
            }
        }
    }

    /// Ends the grace period for the time in which the state is unreadable, because the state was read or written.
    private mutating func endGracePeriod() {
        // An earlier process may have begun the grace period, so end it even if this process didn't begin it.
        location.gracePeriod?.end()
        isUnreadable = false
    }
}
