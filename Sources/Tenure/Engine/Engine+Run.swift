import Foundation
import TenureCore

/// Begins searches of the App Store when the wait is over, or after an event, such as a network that has returned.
extension Engine {
    /// Searches repeatedly, with waits in between, until its task is canceled.
    func run() async {
        load()
        while !Task.isCancelled {
            await search()
            // Another search may run during this wait. If it fails, it cancels `sleepTask`, and this loop begins a new
            // wait, computed with the new `backoff`.
            while !Task.isCancelled {
                let wait = wait
                let sleeping = Task { try await setup.sleep(wait) }
                sleepTask = sleeping
                let result = await withTaskCancellationHandler {
                    await sleeping.result
                } onCancel: {
                    sleeping.cancel()
                }
                if case .success = result { break }
            }
            sleepTask = nil
        }
    }

    /// Lets callers stop waiting for the first search after `resolvingTimeout`.
    nonisolated func limitResolving() async {
        guard (try? await Task.sleep(nanoseconds: UInt64(setup.resolvingTimeout * 1e9))) != nil else { return }
        customerState.endResolving()
    }

    /// Searches again after events, until its task is canceled.
    ///
    /// - When the app becomes active or the network returns: if an entitlement isn't granted, or the service hasn't
    ///   answered about a purchase yet. At most once in ten seconds.
    /// - When the keychain is unlocked: if the state couldn't be read before.
    func observeEvents() async {
        for await event in setup.events() {
            switch event {
            case .keychainUnlocked: if device.state.isUnreadable { await searchAgain() }
            case .appEnteredBackground: break
            case .appBecameActive, .networkReturned: if lacksEntitlement || hasUnansweredPurchase { await recheck() }
            }
        }
    }

    /// Whether an entitlement isn't granted to the customer, or nothing was decided yet.
    private var lacksEntitlement: Bool {
        let answers = device.evaluation().answers
        return answers.isEmpty || answers.values.contains { $0.outcome != .granted }
    }

    /// Whether there is a purchase that the service hasn't answered about yet.
    private var hasUnansweredPurchase: Bool { setup.service != nil && !service.unanswered.isEmpty }

    /// The seconds until the next search.
    ///
    /// - After a failure: the wait of `backoff`, which grows with each failure, and no less than the service asked for.
    /// - If a right has an end: until that end, but 15 minutes at most, because each search also stores the time.
    /// - Otherwise a day; or an hour if a service decides and an entitlement isn't granted. A client that only sends
    ///   what the App Store signed to the service (`Tenure.listening`) waits for a day.
    ///
    /// Without a failure, the wait is no longer than the service asked for.
    var wait: Double {
        if backoff.failures > 0 { return max(backoff.wait(chance: setup.chance()), service.retryWait ?? 0) }
        let now = device.stored.time.now(setup.clock())
        let answers = device.evaluation().answers.values
        let ends = answers.compactMap { $0.outcome == .granted ? $0.until : nil }
        let next = ends.filter { $0 > now }.min().map { $0.timeIntervalSince(now) + 1 }
        let longest = setup.service != nil && !setup.isListening && lacksEntitlement ? 3600 : Self.maximumWait
        let wait = next.map { min($0, Self.clockSaveInterval) } ?? longest
        return service.retryWait.map { min($0, wait) } ?? wait
    }

    /// The longest wait, in seconds: a day.
    private static let maximumWait: Double = 86_400
    /// How often the time is stored while there is a right with an end, in seconds. If the clock is set back between
    /// two starts, the right is extended by no more than this interval.
    private static let clockSaveInterval: Double = 900
}
