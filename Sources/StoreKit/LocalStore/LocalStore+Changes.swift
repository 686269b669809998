import Synchronization
import TenureJSON

/// Stores the App Store's reports, for the listeners of `Transaction.updates` and similar sequences.
extension LocalStore.State {
    /// Stores what the App Store reported, unless a later report is stored. Returns whether there are new changes for
    /// listeners.
    ///
    /// - Parameter isFresh: replaces the stored transactions and subscriptions even if their content is the same.
    mutating func storeReport(_ new: DeviceContents, isFresh: Bool) -> Bool {
        if let old = contents, new.change < old.change { return false }
        var new = new
        if !isFresh { new.keepCopies(of: contents) }
        for index in new.transactions.indices where finishedHere.contains(new.transactions[index].value.id) {
            new.transactions[index].isFinished = true
        }
        // Copies, because the closures can't access this state while `changeLog` changes.
        let (buying, boughtHere) = (purchasesInProgress, boughtHere)
        let hasChanged = changeLog.update(
            new, isReturnedByPurchase: { (buying[$0.productID] ?? 0) > 0 && !boughtHere.contains($0.id) },
            isOwn: { boughtHere.contains($0.id) })
        // The stored app transaction is about one version of the app, so discard it if the same customer has another
        // version.
        if let former = contents?.appVersion, contents?.customer == new.customer, former != new.appVersion {
            appTransaction = nil
        }
        contents = new
        return hasChanged
    }
}

/// Delivers the changes in these reports to the listeners.
extension LocalStore {
    /// Waits for the next change after `cursor`, and returns the changed element. Returns nil only if the task is
    /// canceled.
    ///
    /// - Parameter kind: the changes to wait for: `\.transactions`, `\.statuses` or `\.storefronts`.
    func next<Element>(
        of kind: any KeyPath<ChangeLog, ChangeLog.Changes<Element>> & Sendable, _ cursor: inout ChangeLogCursor<Element>
    ) async -> Element? {
        while !Task.isCancelled {
            if let first = cursor.backlog.popFirst() { return first }
            let hadBegun = cursor.position != nil
            // The first call begins to listen: it sets the cursor to the end of the log, and takes the backlog.
            let (hasContents, change) = state.withLock { state -> (Bool, Element?) in
                let items = state.changeLog[keyPath: kind]
                guard let position = cursor.position else {
                    guard state.contents != nil else { return (false, nil) }
                    cursor.position = items.changes.count
                    cursor.backlog = items.backlog[...]
                    return (true, nil)
                }
                guard position < items.changes.count else { return (state.contents != nil, nil) }
                cursor.position = position + 1
                return (true, items.changes[position])
            }
            if let change { return change }
            if !hadBegun {
                // If the listener has begun just now, deliver its backlog. Otherwise, the device has to connect first.
                if hasContents { continue }
                if (try? await contact()) != nil { continue }
            }
            await waitForChanges { state in
                cursor.position.map { $0 < state.changeLog[keyPath: kind].changes.count } ?? (state.contents != nil)
            }
        }
        return nil
    }

    /// Waits until something has changed in the store or on the device, and then gets the store's report. Doesn't wait
    /// if `hasChanges` returns true.
    private func waitForChanges(unless hasChanges: (borrowing State) -> Bool) async {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Check for changes under the same lock, so that no change between the check and the wait is missed.
        let (last, isOffline, hasChangesAlready) = state.withLock { state in
            state.watchers.append(waker)
            return (state.contents?.change, state.behavior.isOffline, hasChanges(state))
        }
        if !hasChangesAlready {
            // Wait for the first of two: `wakeListeners`, or a change in the store, unless the device is offline.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in wakes { break } }
                if !isOffline { group.addTask { [self] in await waitForStoreChange(after: last) } }
                await group.next()
                group.cancelAll()
            }
            _ = try? await contact()
        }
        waker.finish()
    }

    /// Waits until the local App Store reports a change after `last`, or stops holding the request. Waits a second if
    /// it doesn't respond.
    ///
    /// - Parameter last: `DeviceContents.change` of the last report; nil if there is no report.
    private func waitForStoreChange(after last: Int?) async {
        do {
            _ = try await send(.changes, ["after": .number(String(last ?? -1))])
        } catch {
            // The local App Store doesn't answer. It may be started again, so try again.
            try? await Task.sleep(for: .seconds(1))
        }
    }
}
