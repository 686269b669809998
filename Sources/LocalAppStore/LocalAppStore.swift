package import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// The running local App Store: its state, the signer, and the sender of notifications.
/// Operations run one after the other. Each ends when its notifications were sent; no time passes meanwhile.
package actor LocalAppStore {
    /// Sends one signed notification to the app's URL.
    package typealias Courier =
        @Sendable (_ signedPayload: String, _ url: String, _ notification: StoreNotification) async -> SendAttemptResult

    /// Sets other clocks to the local time, before anything of that instant is sent.
    package typealias ClockHand = @Sendable (_ now: Date) -> Void

    package private(set) var world: World
    package nonisolated let signer: StoreSigner
    private let courier: Courier
    private let turnClocks: ClockHand
    private let journal: Journal?
    private var unwritten: [Journal.Entry] = []
    /// Grows with everything that happens, except time that only passes.
    package private(set) var changeCount = 0
    private var watchers: [AsyncStream<Int>.Continuation] = []
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A new store that isn't saved.
    package init(
        _ world: World, signer: StoreSigner, clock: @escaping ClockHand = { _ in }, courier: @escaping Courier
    ) {
        self.world = world
        self.signer = signer
        self.courier = courier
        turnClocks = clock
        journal = nil
        clock(world.now)
    }

    /// The store of a journal. Throws if it can't be read.
    package init(
        _ journal: Journal, signer: StoreSigner, clock: @escaping ClockHand = { _ in }, courier: @escaping Courier
    ) throws {
        world = try journal.world()
        self.signer = signer
        self.courier = courier
        turnClocks = clock
        self.journal = journal
        clock(world.now)
    }

    /// Performs one operation. Its notifications are sent, and everything is saved, before this returns.
    /// Returns the notifications that it caused. Throws a `WorldError` or an `ActMistake` if the operation isn't
    /// possible; then nothing has changed. Throws a `JournalError` if it couldn't be saved.
    @discardableResult
    package func perform(_ act: Act) async throws -> [StoreNotification] {
        try await perform([act])
    }

    /// Performs several, saved together. If one isn't possible, those before it have happened.
    @discardableResult
    package func perform(_ acts: [Act]) async throws -> [StoreNotification] {
        await enter()
        defer { leave() }
        defer { tell() }
        let first = world.notifications.count
        var failure: (any Error)?
        for act in acts {
            do {
                try await happen(act)
            } catch {
                failure = error
                break
            }
        }
        defer { unwritten = [] }
        try journal?.note(unwritten)
        if let failure { throw failure }
        return Array(world.notifications[first...])
    }

    private func happen(_ act: Act) async throws {
        if let instant = try act.timeToReach(in: world) {
            while world.step(to: instant) {
                changeCount += 1
                turnClocks(world.now)
                await deliver()
            }
            turnClocks(world.now)
            // As an instant: a length would count from another time when the journal is read.
            note(.act(Act(.advance, [.to: world.now.rfc3339])))
        } else {
            try world.perform(act)
            changeCount += 1
            note(.act(act))
        }
        await deliver()
    }

    private func deliver() async {
        for number in world.takeOutbox() {
            let notification = world.notifications[number]
            guard let url = world.apps[notification.app].notificationURL else { continue }
            let result: SendAttemptResult
            switch world.network {
            case .up:
                result = await carry(notification, to: url, in: world)
            case .down: result = .noResponse
            case .swallowing: result = .success
            }
            note(.act(Act(.advance, [.to: world.now.rfc3339])))
            world.recordAttempt(result, of: number)
            note(.attempt(notification: number, result))
        }
    }

    /// A notification that can't be signed counts as undelivered: its history shows that, and it is sent again.
    private nonisolated func carry(
        _ notification: StoreNotification, to url: String, in world: World
    ) async -> SendAttemptResult {
        guard let payload = try? signer.notification(notification, in: world) else { return .other }
        return await courier(payload, url, notification)
    }

    /// For populations: `body` changes the state, and then all notifications are sent, `width` at a time and in any
    /// order, as the App Store does. Only without a journal.
    ///
    /// - Parameter losing: of a thousand deliveries, how many get lost although they are acknowledged.
    package func perform<Result: Sendable>(
        width: Int, losing: Int = 0, dice: Dice, _ body: @Sendable (inout World) throws -> Result
    ) async throws -> Result {
        guard journal == nil else { throw JournalError("it stores single operations, and a population has none") }
        await enter()
        defer { leave() }
        defer { tell() }
        let result = try body(&world)
        changeCount += 1
        turnClocks(world.now)
        var dice = dice
        let attempts = await carry(world.takeOutbox().shuffled(using: &dice), width: width, losing: losing, dice)
        for (number, result) in attempts { world.recordAttempt(result, of: number) }
        return result
    }

    private func carry(
        _ numbers: [Int], width: Int, losing: Int, _ dice: Dice
    ) async -> [(Int, SendAttemptResult)] {
        let world = world
        var dice = dice
        var waiting = numbers[...]
        var attempts: [(Int, SendAttemptResult)] = []
        await withTaskGroup(of: (Int, SendAttemptResult)?.self) { group in
            func carryNext() {
                guard let number = waiting.popFirst() else { return }
                let isLost = dice.roll(1000) < losing
                group.addTask {
                    let notification = world.notifications[number]
                    guard let url = world.apps[notification.app].notificationURL else { return nil }
                    switch world.network {
                    case .down: return (number, .noResponse)
                    case .swallowing: return (number, .success)
                    case .up where isLost: return (number, .success)
                    case .up:
                        return (number, await self.carry(notification, to: url, in: world))
                    }
                }
            }
            for _ in 0..<max(1, width) { carryNext() }
            while let attempt = await group.next() {
                if let attempt { attempts.append(attempt) }
                carryNext()
            }
        }
        return attempts
    }

    // MARK: Watching

    /// The state, and the number of changes.
    package var changedWorld: (change: Int, world: World) { (changeCount, world) }

    /// Waits for more than `count` changes, or until the caller is canceled. Returns the number of changes.
    package func change(after count: Int) async -> Int {
        let (changes, watcher) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append(watcher)
        watcher.yield(changeCount)
        for await change in changes where change > count { break }
        return changeCount
    }

    private func tell() {
        // Removes callers that no longer wait.
        watchers.removeAll { if case .terminated = $0.yield(changeCount) { true } else { false } }
    }

    private func note(_ entry: Journal.Entry) {
        if journal != nil { unwritten.append(entry) }
    }

    // An actor runs other calls at each `await`. An operation must end before the next one begins.
    private func enter() async {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isBusy = true
        }
    }

    private func leave() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
