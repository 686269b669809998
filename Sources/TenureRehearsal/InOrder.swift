import Foundation

/// Runs tasks on all cores, and passes their results to `take` in the order of the tasks. It limits the number of tasks
/// that run at the same time.
package func inOrder<Work: Sendable, Done: Sendable>(
    makeNext: () async throws -> Work?, _ work: @escaping @Sendable (Work) async -> Done,
    _ take: (Done) throws -> Void
) async throws {
    let most = ProcessInfo.processInfo.activeProcessorCount * 2
    try await withThrowingTaskGroup(of: (Int, Done).self) { group in
        var started = 0
        var taken = 0
        var early: [Int: Done] = [:]
        while true {
            // Also limit the results that wait for an earlier one, so that they don't fill the memory if one task is
            // slow.
            while started - taken < most, let next = try await makeNext() {
                let index = started
                group.addTask { (index, await work(next)) }
                started += 1
            }
            guard taken < started, let (index, done) = try await group.next() else { break }
            early[index] = done
            while let next = early.removeValue(forKey: taken) {
                try take(next)
                taken += 1
            }
        }
    }
}
