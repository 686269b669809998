/// The error for work that didn't finish in time.
struct TimedOut: Error, CustomStringConvertible {
    let seconds: Double
    var description: String { "no response within \(seconds) seconds" }
}

/// Runs `work` and waits for its result, for at most `seconds`. Cancels `work` after the timeout, and if the caller is
/// canceled. In both cases, throws without waiting for the end of `work`.
///
/// - Throws: the error of `work`; `TimedOut` after the timeout; `CancellationError` if the caller is canceled.
func withTimeout<Value: Sendable>(
    _ seconds: Double, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await result(of: Task { try await work() }, within: seconds)
}

/// Waits for a task for at most `seconds`, and never cancels the task. Returns nil if the task takes longer, or if the
/// caller is canceled.
func value<Value: Sendable>(of task: Task<Value, Never>, within seconds: Double) async -> Value? {
    // Canceling a task that only waits for another task doesn't cancel the other task.
    try? await result(of: Task { await task.value }, within: seconds)
}

/// Returns the result of `work`. Cancels `work` after the timeout, and if the caller is canceled.
///
/// Some StoreKit calls hang and ignore cancellation. A task group would wait for them, so this function reads only the
/// first element of a stream: the result of `work` or the timeout. The stream ignores the second element.
private func result<Value: Sendable>(of work: Task<Value, any Error>, within seconds: Double) async throws -> Value {
    let (results, continuation) = AsyncStream<Result<Value, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
    Task { _ = continuation.yield(await work.result) }
    let timer = Task {
        guard (try? await Task.sleep(nanoseconds: UInt64(min(max(0, seconds), 1e9) * 1e9))) != nil else { return }
        _ = continuation.yield(.failure(TimedOut(seconds: seconds)))
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    var iterator = results.makeAsyncIterator()
    // The stream has an element sooner or later, so it ends only if the caller is canceled.
    guard let result = await iterator.next() else { throw CancellationError() }
    return try result.get()
}
