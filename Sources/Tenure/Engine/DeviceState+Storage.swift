import Foundation

/// Reads and writes the stored state, and adopts what other processes have written.
extension DeviceState {
    /// Reads the stored state again: other processes may have written it, or it was unreadable before.
    func rereadState() {
        let before = stored
        let wasUnreadable = state.isUnreadable
        let result = state.reload(at: setup.clock())
        // Log only when the state has become readable or unreadable, and not each time it is read.
        if wasUnreadable != state.isUnreadable { snapshot.note(result, log: setup.options.log) }
        if let failure = state.moveFailure {
            setup.options.log.error("the state couldn't be moved to the access group yet: \(failure)")
        }
        applyChanges(since: before)
    }

    /// Changes and writes the state with a lock that keeps out other processes. Changes that other processes have
    /// written are applied even if `change` throws.
    func updateState<Result>(_ change: (inout StoredState) throws -> Result) throws -> Result {
        let before = stored
        defer { applyChanges(since: before) }
        return try state.update(at: setup.clock(), change)
    }

    /// Writes the state. Returns false if it couldn't be written.
    @discardableResult func save() -> Bool {
        let before = stored
        defer { applyChanges(since: before) }
        do {
            try state.save(at: setup.clock())
            return true
        } catch {
            setup.options.log.error("the local state can't be written: \(error)")
            snapshot.note(.localState, .failed("\(error)"))
            return false
        }
    }

    /// Updates this object after `stored` has taken over the changes of other processes.
    private func applyChanges(since before: StoredState) {
        let account = stored.account
        if before.account.isAnotherAccount(than: account) {
            setup.options.log.info(
                "another process of the app found another account; the previous account's data is discarded")
            discardReadings()
        }
        var isResponseDiscarded = false
        if account.entitlementToken != before.account.entitlementToken || stored.revocations != before.revocations {
            isResponseDiscarded = !readStoredToken(at: setup.clock())
        }
        if stored.time.floor < before.time.floor {
            // Another process has found out that the clock had been wrong: see `DeviceTime`.
            facts.clockCorrections += 1
            post()
        } else if stored.account != before.account {
            post()
        }
        // The response that another process stored is signed with a revoked key, so it was discarded. Write the state
        // without the response.
        if isResponseDiscarded { save() }
    }

    // MARK: The entitlement token

    /// Reads the claims of the stored entitlement token, if the token is valid.
    ///
    /// If the token's key was revoked, an attacker may have made the whole response that contained the token. So this
    /// method discards the whole response, and returns false.
    @discardableResult func readStoredToken(at clock: Date) -> Bool {
        facts.claims = nil
        guard setup.service != nil, let text = stored.account.entitlementToken else { return true }
        let token = EntitlementTokenReader.Token(
            text: text, statements: stored.account.keyStatements, revocations: stored.revocations)
        do throws(EntitlementTokenReader.Refusal) {
            facts.claims = try tokenReader.read(
                stored: token, for: holder(deviceID ?? stored.device), at: stored.time.now(clock))
        } catch {
            setup.options.log.error("the stored entitlement token is rejected: it \(error.rawValue)")
            guard error == .revoked else { return true }
            stored.account.discardDistrustedAnswers()
            facts.freshAnswers = nil
            return false
        }
        return true
    }

    /// Returns the device, app and customer for which an entitlement token must have been issued.
    ///
    /// - Parameter device: the hash of the device ID; nil if StoreKit doesn't provide the ID.
    func holder(_ device: String?) -> EntitlementTokenReader.Holder {
        EntitlementTokenReader.Holder(
            device: device, bundleID: setup.access.bundleID ?? stored.account.bundleID, host: setup.host,
            appTransactionID: stored.account.key?.appTransactionID, environment: stored.account.environment)
    }

    /// Adds the revoked keys in `text`, a list that the offline root (the key that vouches for the service's keys)
    /// signed. Ignores the text if that key didn't sign it. If the stored list is from another root, which an earlier
    /// release of the app trusted, the new list replaces it.
    func addRevocations(_ text: String?) {
        guard let received = text.flatMap({ tokenReader.keys.revocations(in: $0) }) else { return }
        let merged = stored.revocations.map { $0.root == received.root ? $0.merging(received) : received } ?? received
        guard merged != stored.revocations else { return }
        stored.revocations = merged
        readStoredToken(at: setup.clock())
    }
}

extension AppStoreSnapshot {
    /// Records the result of reading the stored state in `steps`, and logs a failure.
    mutating func note(_ result: StateReadResult, log: Tenure.Log) {
        switch result {
        case .state: note(.localState, .done)
        case .missing: note(.localState, .skipped("nothing was stored yet"))
        case .rejected(let reason):
            log.error("the stored state is ignored and replaced: \(reason)")
            note(.localState, .failed(reason))
        case .unreadable(let reason):
            log.error("the stored state can't be read now: \(reason)")
            note(.localState, .failed(reason))
        }
    }
}
