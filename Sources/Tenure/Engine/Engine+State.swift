import Foundation
import TenureCore

extension Engine {
    /// Reads the state again: other processes may have written it, or it was unreadable before.
    func rereadState() {
        let before = memory
        let wasUnreadable = state.isUnreadable
        let result = state.reload(at: setup.clock())
        // Logged once, not with each search.
        if wasUnreadable != state.isUnreadable { snapshot.note(result, log: setup.options.log) }
        if let failure = state.moveFailure {
            setup.options.log.error("the state could not be moved to the access group yet: \(failure)")
        }
        adopt(changesSince: before)
    }

    /// Changes the state while no other process can. Changes by other processes count even if `change` throws.
    func updateState<Result>(_ change: (inout StoredState) throws -> Result) throws -> Result {
        let before = memory
        defer { adopt(changesSince: before) }
        return try state.update(at: setup.clock(), change)
    }

    /// Writes the state. Returns false if it couldn't be written.
    @discardableResult
    func save() -> Bool {
        let before = memory
        defer { adopt(changesSince: before) }
        do {
            try state.save(at: setup.clock())
            return true
        } catch {
            setup.options.log.error("the local state cannot be written: \(error)")
            snapshot.note(.localState, .failed("\(error)"))
            return false
        }
    }

    /// Updates this engine after another process's writes.
    private func adopt(changesSince before: StoredState) {
        let account = memory.account
        if before.account.isAnother(than: account) {
            setup.options.log.info("another process found another account; the previous one's data is discarded")
            forgetReadings()
        }
        if account.entitlementToken != before.account.entitlementToken || memory.revocations != before.revocations {
            readStoredToken(at: setup.clock())
        }
        if memory.time.floor < before.time.floor {
            // Newly signed evidence showed another process that the clock had been wrong.
            heals += 1
            post()
        } else if memory.account != before.account || memory.trials != before.trials {
            post()
        }
    }
}

extension AppStoreSnapshot {
    /// Logs the result of reading the state.
    mutating func note(_ result: StateReadResult, log: Tenure.Log) {
        switch result {
        case .state: note(.localState, .done)
        case .missing: note(.localState, .skipped("nothing was stored yet"))
        case .rejected(let reason):
            log.error("the stored state is ignored and replaced: \(reason)")
            note(.localState, .failed(reason))
        case .unreadable(let reason):
            log.error("the stored state cannot be read now: \(reason)")
            note(.localState, .failed(reason))
        }
    }
}
