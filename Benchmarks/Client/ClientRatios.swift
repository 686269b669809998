import Foundation

/// The client on the device. `client-allows` is the time of an answer that a running client knows already, and
/// `client-first-answer` that of the first answer after a start. The floor is one verification of a P-256 signature.
enum ClientRatios {
    static let allows = "client-allows"
    static let firstAnswer = "client-first-answer"

    static func measure(_ only: String?) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = try ClientBenchmark(folder: folder, now: Date())
        if only != allows {
            try await measure(firstAnswer, goal: "<=4", repetitions: 500, client) {
                guard await client.firstAnswer() else { throw Self.denied }
            }
        }
        if only != firstAnswer {
            try await measure(allows, goal: "<=0.006", repetitions: 1, counting: 100_000, client) {
                guard await client.allows(100_000) == 100_000 else { throw Self.denied }
            }
        }
    }

    /// Works like `Ratio.measure`, for asynchronous work. It measures the processor time of all threads, because such
    /// work may change its thread.
    ///
    /// - Parameter questions: how many answers one call of `work` gets.
    private static func measure(
        _ name: String, goal: String, repetitions: Int, counting questions: Int = 1, _ client: ClientBenchmark,
        rounds: Int = 15, _ work: () async throws -> Void
    ) async throws {
        let verifications = 1000
        var works: [Double] = []
        var floors: [Double] = []
        for round in 0...rounds {
            var start = processCPUTime()
            for _ in 0..<repetitions { try await work() }
            let spent = (processCPUTime() - start) / Double(repetitions * questions) * 1e6
            start = processCPUTime()
            for _ in 0..<verifications {
                guard client.verify() else { throw BenchmarkFailure("the floor's signature isn't valid") }
            }
            let floor = (processCPUTime() - start) / Double(verifications) * 1e6
            // The first round warms up.
            guard round > 0 else { continue }
            works.append(spent)
            floors.append(floor)
        }
        let (work, floor) = (works.median, floors.median)
        print("\(name): \(format(work)) µs, floor \(format(floor)) µs")
        print("ratio \(name) \(format(work / floor)) \(goal)")
    }

    private static let denied = BenchmarkFailure("the client doesn't allow an entitlement of its stored token")
}
