package import Foundation
import TenureCore
import TenureJSON

/// A running local App Store: its state, the signer of its artifacts, and the sender of its notifications.
///
/// Operations run one after the other. An operation ends when its notifications were sent. Until then, the local clock
/// (the clock of the local App Store) doesn't advance.
package actor LocalAppStore {
    /// Sends one signed notification to the app's URL, and returns the outcome.
    package typealias NotificationSender =
        @Sendable (_ signedPayload: String, _ url: String, _ notification: AppStoreNotification) async ->
        SendAttemptResult

    /// Sets other clocks to the time of the local clock, such as the clock of the service that a test runs. This
    /// happens before a notification of that time is sent.
    package typealias ClockSetter = @Sendable (_ now: Date) -> Void

    package private(set) var state: AppStoreState
    package nonisolated let signer: AppStoreSigner
    private let sender: NotificationSender
    private let setClocks: ClockSetter
    /// The file that saves every operation; nil if the state is only in memory.
    private let journal: Journal?
    /// The entries of the running operations that the journal doesn't have yet.
    private var unwrittenEntries: [Journal.Entry] = []
    /// The number of changes of the state so far. Time that passes without an event isn't a change.
    private(set) var changeCount = 0
    /// The callers of `change(after:)` that wait. After each change, each gets the number of changes.
    private var watchers: [AsyncStream<Int>.Continuation] = []
    /// Whether an operation runs.
    private var isBusy = false
    /// The operations that wait for their turn.
    private var waitingOperations: [CheckedContinuation<Void, Never>] = []

    /// Creates a local App Store. Without a journal, the state is lost when the process ends.
    ///
    /// - Parameters:
    ///   - journal: a journal of operations that lead to this state.
    ///   - clock: sets other clocks to the time of the local clock.
    package init(
        _ state: AppStoreState, signer: AppStoreSigner, journal: Journal? = nil,
        clock: @escaping ClockSetter = { _ in }, sender: @escaping NotificationSender
    ) {
        self.state = state
        self.signer = signer
        self.sender = sender
        setClocks = clock
        self.journal = journal
        clock(state.now)
    }

    /// Performs one operation, and returns the notifications that the operation caused. When this method returns, these
    /// notifications are sent and everything is saved.
    ///
    /// Throws an `AppStoreStateError` or an `OperationMistake` if the operation isn't possible, and a `JournalError` if
    /// the change couldn't be saved. After an error, the state is as before. After a `JournalError`, the notifications
    /// may have been sent.
    @discardableResult
    package func perform(_ operation: AppStoreOperation) async throws -> [AppStoreNotification] {
        try await perform([operation])
    }

    /// Performs several operations and saves them together. If an operation isn't possible, the operations before it
    /// remain performed.
    @discardableResult
    func perform(_ operations: [AppStoreOperation]) async throws -> [AppStoreNotification] {
        await waitForTurn()
        defer { endTurn() }
        defer { notifyWatchers() }
        let stateBefore = journal == nil ? nil : state
        let firstNotification = state.notifications.count
        var failure: (any Error)?
        for operation in operations {
            do {
                try await performOne(operation)
            } catch {
                failure = error
                break
            }
        }
        defer { unwrittenEntries = [] }
        do {
            try journal?.append(unwrittenEntries)
        } catch {
            // Later operations must not depend on an operation that the journal lacks.
            if let stateBefore { changeState { $0 = stateBefore } }
            throw error
        }
        if let failure { throw failure }
        return Array(state.notifications[firstNotification...])
    }

    /// Performs one operation and sends its notifications. Records the operation and the outcomes of the deliveries for
    /// the journal.
    private func performOne(_ operation: AppStoreOperation) async throws {
        if let instant = try operation.targetTime(in: state) {
            while state.step(to: instant) {
                changeCount += 1
                setClocks(state.now)
                await deliverOutbox()
            }
            setClocks(state.now)
            // The journal stores the instant and not a length of time, which could begin at another time when the
            // journal is read again.
            record(.operation(AppStoreOperation(.advance, [.to: state.now.rfc3339])))
        } else {
            try state.perform(operation)
            changeCount += 1
            record(.operation(operation))
        }
        await deliverOutbox()
    }

    /// Records an entry for the journal, if there is a journal.
    private func record(_ entry: Journal.Entry) { if journal != nil { unwrittenEntries.append(entry) } }

    /// Sends the notifications that are due now, and records the outcomes.
    private func deliverOutbox() async {
        for index in state.takeOutbox() {
            guard let result = await deliver(index, in: state) else { continue }
            // The date of an attempt is the time of the local clock, so the journal needs this time first.
            record(.operation(AppStoreOperation(.advance, [.to: state.now.rfc3339])))
            state.recordAttempt(result, of: index)
            record(.attempt(notification: index, result))
        }
    }

    /// Sends the notification with this index, and returns the outcome; nil if the app has no URL for notifications. A
    /// notification that can't be signed counts as a failed attempt, so it is sent again later.
    nonisolated func deliver(_ index: Int, in state: AppStoreState) async -> SendAttemptResult? {
        let notification = state.notifications[index]
        guard let url = state.apps[notification.app].notificationURL else { return nil }
        switch state.network {
        case .down: return .noResponse
        case .swallowing: return .success
        case .up:
            guard let payload = try? signer.notification(notification, in: state) else { return .other }
            return await sender(payload, url, notification)
        }
    }

    /// Changes the state with `body`, without the journal and without sending notifications. `perform` uses this method
    /// to undo operations that couldn't be saved. Tests use it to add many customers.
    func changeState<Result>(_ body: (inout AppStoreState) throws -> Result) rethrows -> Result {
        let result = try body(&state)
        changeCount += 1
        setClocks(state.now)
        return result
    }

    // MARK: Watching

    /// The state, and the number of changes.
    var changedState: (change: Int, state: AppStoreState) { (changeCount, state) }

    /// Waits for more than `count` changes, or until the caller is canceled. Returns the number of changes.
    func change(after count: Int) async -> Int {
        let (changes, watcher) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append(watcher)
        watcher.yield(changeCount)
        for await change in changes where change > count { break }
        return changeCount
    }

    /// Tells the waiting callers of `change(after:)` the number of changes.
    private func notifyWatchers() {
        // Removes callers that no longer wait.
        watchers.removeAll { if case .terminated = $0.yield(changeCount) { true } else { false } }
    }

    // MARK: One operation at a time

    /// Waits until no other operation runs. An actor alone doesn't ensure that: it runs other calls at each `await`.
    private func waitForTurn() async {
        if isBusy {
            await withCheckedContinuation { waitingOperations.append($0) }
        } else {
            isBusy = true
        }
    }

    /// Lets the next waiting operation begin.
    private func endTurn() {
        // `isBusy` stays true while an operation waits, so that no other operation begins before it.
        if waitingOperations.isEmpty { isBusy = false } else { waitingOperations.removeFirst().resume() }
    }
}
