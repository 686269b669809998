import TenureMint

@testable import LocalAppStore

extension LocalAppStore {
    /// Changes the state of a large population with `body`, and then sends all notifications, `concurrency` at a time
    /// and in any order, as the App Store does.
    ///
    /// - Parameter lostPerThousand: how many of a thousand notifications aren't sent although their attempts count as
    ///   successful.
    func perform<Result: Sendable>(
        concurrency: Int, lostPerThousand: Int, random: SeededRandom,
        _ body: @Sendable (inout AppStoreState) throws -> Result
    ) async throws -> Result {
        var random = random
        let (result, numbers) = try changeState { state -> (Result, [Int]) in
            let result = try body(&state)
            return (result, state.takeOutbox())
        }
        let attempts = await deliver(
            numbers.shuffled(using: &random), concurrency: concurrency, lostPerThousand: lostPerThousand, random)
        changeState { state in
            for (number, result) in attempts { state.recordAttempt(result, of: number) }
        }
        return result
    }

    /// Sends notifications, `concurrency` at a time. Returns the outcomes, but none for notifications of apps without a
    /// URL.
    private func deliver(
        _ numbers: [Int], concurrency: Int, lostPerThousand: Int, _ random: SeededRandom
    ) async -> [(Int, SendAttemptResult)] {
        let state = state
        var lossy = state
        if lossy.network == .up { lossy.network = .swallowing }
        let lossyState = lossy
        var random = random
        var remaining = numbers[...]
        var attempts: [(Int, SendAttemptResult)] = []
        await withTaskGroup(of: (Int, SendAttemptResult)?.self) { group in
            func deliverNext() {
                guard let number = remaining.popFirst() else { return }
                let isLost = random.roll(1000) < lostPerThousand
                group.addTask {
                    await self.deliver(number, in: isLost ? lossyState : state).map { (number, $0) }
                }
            }
            for _ in 0..<max(1, concurrency) { deliverNext() }
            while let attempt = await group.next() {
                if let attempt { attempts.append(attempt) }
                deliverNext()
            }
        }
        return attempts
    }
}
