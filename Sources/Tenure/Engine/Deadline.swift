import Foundation
import TenureHTTP

/// That something did not answer in time.
struct DeadlinePassed: Error, CustomStringConvertible {
    let seconds: Double
    var description: String { "no answer within \(seconds) seconds" }
}

/// Waits for `work` no longer than `seconds`.
///
/// Calls into StoreKit have been seen to hang and to ignore cancellation, and a task group waits for its children. So the
/// work is a task of its own: cancelled when its time is over, and left alone if it does not listen.
func withDeadline<Value: Sendable>(
    _ seconds: Double, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let race = Race<Value>()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            race.start(
                continuation,
                worker: Task {
                    do { race.finish(.success(try await work())) } catch { race.finish(.failure(error)) }
                },
                timer: Task {
                    guard (try? await Task.sleep(nanoseconds: UInt64(min(max(0, seconds), 1e9) * 1e9))) != nil else {
                        return
                    }
                    race.finish(.failure(DeadlinePassed(seconds: seconds)))
                })
        }
    } onCancel: {
        race.finish(.failure(CancellationError()))
    }
}

/// Whoever comes first resumes the one who waits.
private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var tasks: [Task<Void, Never>] = []
        /// Came before the one who waits.
        var early: Result<Value, any Error>?
        var isOver = false
    }

    private let state = Locked(State())

    func start(
        _ continuation: CheckedContinuation<Value, any Error>, worker: Task<Void, Never>, timer: Task<Void, Never>
    ) {
        let early = state.withLock { state -> Result<Value, any Error>? in
            guard !state.isOver else { return state.early }
            state.continuation = continuation
            state.tasks = [worker, timer]
            return nil
        }
        guard let early else { return }
        worker.cancel()
        timer.cancel()
        continuation.resume(with: early)
    }

    func finish(_ result: Result<Value, any Error>) {
        let (continuation, tasks) = state.withLock { state in
            guard !state.isOver else { return (nil as CheckedContinuation<Value, any Error>?, [Task<Void, Never>]()) }
            state.isOver = true
            defer { state.continuation = nil }
            if state.continuation == nil { state.early = result }
            return (state.continuation, state.tasks)
        }
        for task in tasks { task.cancel() }
        continuation?.resume(with: result)
    }
}
