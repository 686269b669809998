import Foundation

/// Runs tasks on all cores, and passes their results to `handle` in the order of the tasks.
///
/// The number of tasks that run at the same time is limited. So is the number of results that wait for the result of an
/// earlier task. Otherwise, they could fill the memory while one task is slow.
///
/// - Parameters:
///   - makeNext: returns the input of the next task; nil after the last one. Like `handle`, it runs on the caller's
///     task.
///   - work: computes the result for one input, on any core.
///   - handle: receives each result. If it throws, the other tasks are canceled.
package func inOrder<Work: Sendable, Done: Sendable>(
    makeNext: () async throws -> Work?, _ work: @escaping @Sendable (Work) async -> Done,
    _ handle: (Done) throws -> Void
) async throws {
    let limit = ProcessInfo.processInfo.activeProcessorCount * 2
    try await withThrowingTaskGroup(of: (Int, Done).self) { group in
        var started = 0
        var handled = 0
        // The results that wait for the result of an earlier task, by the number of their task.
        var waiting: [Int: Done] = [:]
        while true {
            while started - handled < limit, let next = try await makeNext() {
                let index = started
                group.addTask { (index, await work(next)) }
                started += 1
            }
            guard handled < started, let (index, done) = try await group.next() else { break }
            waiting[index] = done
            while let next = waiting.removeValue(forKey: handled) {
                try handle(next)
                handled += 1
            }
        }
    }
}
