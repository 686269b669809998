import Foundation

/// Does work on all cores, and takes the results in the order of the work. It starts as much as keeps the cores busy.
package func inOrder<Work: Sendable, Done: Sendable>(
    makeNext: () async throws -> Work?, _ work: @escaping @Sendable (Work, Int) async -> Done,
    _ take: (Done) throws -> Void
) async throws {
    let most = ProcessInfo.processInfo.activeProcessorCount * 2
    try await withThrowingTaskGroup(of: (Int, Done).self) { group in
        var started = 0
        var taken = 0
        var early: [Int: Done] = [:]
        while true {
            // Early results wait too: one slow batch must not make the others pile up.
            while started - taken < most, let next = try await makeNext() {
                let index = started
                group.addTask { (index, await work(next, index)) }
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
