import Foundation
import TenureCore

extension Engine {
    /// Searches, waits, and searches again, until its task is canceled.
    func run() async {
        load()
        while !Task.isCancelled {
            await search()
            // Another search that fails meanwhile shortens the wait.
            while !Task.isCancelled {
                let wait = wait
                let sleeping = Task { try await setup.sleep(wait) }
                sleeper = sleeping
                let result = await withTaskCancellationHandler {
                    await sleeping.result
                } onCancel: {
                    sleeping.cancel()
                }
                if case .success = result { break }
            }
            sleeper = nil
        }
    }

    /// Lets callers go on without the first search if it takes too long.
    nonisolated func limitResolving() async {
        guard (try? await Task.sleep(nanoseconds: UInt64(setup.resolvingTimeout * 1e9))) != nil else { return }
        customerState.endResolving()
    }

    /// Checks denials again when the app becomes active or the network returns, until its task is canceled.
    func observeEvents() async {
        for await event in setup.events() {
            switch event {
            case .keychainUnlocked: if device.state.isUnreadable { await searchAgain() }
            case .appEnteredBackground: break
            case .appBecameActive, .networkReturned: if lacksEntitlement || isReportMissing { await recheck() }
            }
        }
    }

    /// Whether the customer lacks an entitlement.
    private var lacksEntitlement: Bool {
        let answers = device.evaluation().answers
        return answers.isEmpty || answers.values.contains { $0.outcome != .granted }
    }

    /// Whether a purchase wasn't sent to the service yet.
    private var isReportMissing: Bool { setup.service != nil && !service.unsent.isEmpty }

    /// Seconds until another search is worthwhile: after a failure, at the end of a right, or the next day. With a
    /// service, the next hour while something isn't granted.
    var wait: Double {
        if backoff.failures > 0 {
            return max(backoff.wait(chance: setup.chance()), service.retryWait ?? 0)
        }
        let now = device.memory.time.now(setup.clock())
        let answers = device.evaluation().answers.values
        let ends = answers.compactMap { $0.outcome == .granted ? $0.until : nil }
        let next = ends.filter { $0 > now }.min().map { $0.timeIntervalSince(now) + 1 }
        let longest =
            setup.service != nil && !setup.isListening && lacksEntitlement ? 3600 : Self.longestWait
        let wait = next.map { min($0, Self.clockSaveInterval) } ?? longest
        return service.retryWait.map { min($0, wait) } ?? wait
    }

    private static let longestWait: Double = 86_400
    /// While a right runs out, the instant is stored this often, so that a clock turned back between two starts gains
    /// no more.
    private static let clockSaveInterval: Double = 900
}
