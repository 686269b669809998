import Foundation
import TenureCore

extension DeviceState {
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

    /// Updates this process after another process's writes.
    private func adopt(changesSince before: StoredState) {
        let account = memory.account
        if before.account.isAnother(than: account) {
            setup.options.log.info("another process found another account; the previous one's data is discarded")
            forgetReadings()
        }
        var isDistrusted = false
        if account.entitlementToken != before.account.entitlementToken || memory.revocations != before.revocations {
            isDistrusted = !readStoredToken(at: setup.clock())
        }
        if memory.time.floor < before.time.floor {
            // Newly signed evidence showed another process that the clock had been wrong.
            facts.clockCorrections += 1
            post()
        } else if memory.account != before.account || memory.trials != before.trials {
            post()
        }
        // Another process stored a response that its key doesn't prove anymore. It must not stay there.
        if isDistrusted { save() }
    }

    // MARK: The entitlement token

    /// Reads the claims of the stored entitlement token, if it still proves anything here.
    ///
    /// If its key is revoked, everything in the response that brought it may come from an attacker, so all of that
    /// response is discarded. Returns false in that case.
    @discardableResult
    func readStoredToken(at clock: Date) -> Bool {
        facts.claims = nil
        guard setup.service != nil, let text = memory.account.entitlementToken else { return true }
        let token = EntitlementTokenReader.Token(
            text: text, statements: memory.account.keyStatements, revocations: memory.revocations)
        do throws(EntitlementTokenReader.Refusal) {
            facts.claims = try tokenReader.read(
                stored: token, for: holder(deviceID ?? memory.device), at: memory.time.now(clock))
        } catch {
            setup.options.log.error("the stored entitlement token is rejected: it \(error.rawValue)")
            guard error == .revoked else { return true }
            memory.account.distrustService()
            facts.fresh = nil
            return false
        }
        return true
    }

    /// The device and customer that a token must be for, as far as this device knows.
    func holder(_ device: String?) -> EntitlementTokenReader.Holder {
        EntitlementTokenReader.Holder(
            device: device, bundleID: setup.access.bundleID ?? memory.account.bundleID, host: setup.host,
            appTransactionID: memory.account.key?.appTransactionID, environment: memory.account.environment)
    }

    /// Reads the offline root's list of revoked keys. The root signed it, so it counts from any sender.
    func learnRevocations(_ text: String?) {
        guard let news = text.flatMap({ tokenReader.keys.revocations(in: $0) }) else { return }
        let known = memory.revocations.map { $0.root == news.root ? $0.merging(news) : news } ?? news
        guard known != memory.revocations else { return }
        memory.revocations = known
        readStoredToken(at: setup.clock())
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
