import Foundation
import TenureCore

/// The error for work that didn't finish in time.
struct TimedOut: Error, CustomStringConvertible {
    let seconds: Double
    var description: String { "no response within \(seconds) seconds" }
}

/// Runs `work` and waits for it, for at most `seconds`.
///
/// Some StoreKit calls hang and ignore cancellation, and a task group would wait for them. So the work runs in its own
/// task. After the timeout, the task is canceled, and this function returns without waiting for it.
func withTimeout<Value: Sendable>(
    _ seconds: Double, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await Race<Value>.run(Task { try await work() }, seconds: seconds, cancelsWork: true)
}

/// Waits for a task for at most `seconds`, and never cancels it. Returns nil if it took longer, or if the caller was
/// canceled.
func value<Value: Sendable>(of task: Task<Value, Never>, within seconds: Double) async -> Value? {
    try? await Race<Value>.run(Task { await task.value }, seconds: seconds, cancelsWork: false)
}

/// Resumes the caller with the first result: the result of the work, the timeout, or a cancellation.
private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var tasks: [Task<Void, Never>] = []
        /// A result that came before the caller waited for it.
        var earlyResult: Result<Value, any Error>?
        var isOver = false
    }

    private let state = Locked(State())

    /// Waits for the work. Throws `TimedOut` after the timeout, and `CancellationError` if the caller is canceled.
    static func run(_ work: Task<Value, any Error>, seconds: Double, cancelsWork: Bool) async throws -> Value {
        let race = Race()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let worker = Task {
                    // These tasks need no cancellation: a result after the first result is ignored.
                    race.finish(await work.result)
                }
                let timer = Task {
                    guard (try? await Task.sleep(nanoseconds: UInt64(min(max(0, seconds), 1e9) * 1e9))) != nil else {
                        return
                    }
                    // First the timeout: canceled work throws an error at once, which would be the first result.
                    race.finish(.failure(TimedOut(seconds: seconds)))
                    if cancelsWork { work.cancel() }
                }
                race.start(continuation, worker: worker, timer: timer)
            }
        } onCancel: {
            race.finish(.failure(CancellationError()))
            if cancelsWork { work.cancel() }
        }
    }

    /// Lets the caller wait, or resumes it immediately if there is a result already.
    private func start(
        _ continuation: CheckedContinuation<Value, any Error>, worker: Task<Void, Never>, timer: Task<Void, Never>
    ) {
        let early = state.withLock { state -> Result<Value, any Error>? in
            guard !state.isOver else { return state.earlyResult }
            state.continuation = continuation
            state.tasks = [worker, timer]
            return nil
        }
        guard let early else { return }
        timer.cancel()
        continuation.resume(with: early)
    }

    /// Resumes the caller with a result, unless another result came first.
    private func finish(_ result: Result<Value, any Error>) {
        let (continuation, tasks) = state.withLock { state in
            guard !state.isOver else { return (nil as CheckedContinuation<Value, any Error>?, [Task<Void, Never>]()) }
            state.isOver = true
            defer { state.continuation = nil }
            if state.continuation == nil { state.earlyResult = result }
            return (state.continuation, state.tasks)
        }
        for task in tasks { task.cancel() }
        continuation?.resume(with: result)
    }
}
