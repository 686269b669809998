import ClientBenchmark
import Foundation

/// The client on the device: a question whose answer is known, and the first answer after a start.
enum ClientRatios {
    static let allows = "client-allows"
    static let firstAnswer = "client-first-answer"

    static func measure(_ only: String?) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = try ClientBenchmark(folder: folder, now: Date())
        if only != allows {
            try Ratio(
                name: firstAnswer, goal: "<=4",
                work: { guard client.firstAnswer() else { throw WrongAnswer() } },
                floor: { guard client.verify() else { throw WrongAnswer() } }, repetitions: 500, floorRepetitions: 1000
            ).measure()
        }
        if only != firstAnswer { try await measureAllows(client) }
    }

    /// As `Ratio.measure`; a question is asked with `await`, and goes on in the same thread when the answer is known.
    private static func measureAllows(_ client: ClientBenchmark, rounds: Int = 15) async throws {
        let (questions, verifications) = (100_000, 1000)
        var works: [Double] = []
        var floors: [Double] = []
        for round in 0...rounds {
            var start = threadCPUTime()
            guard await client.allows(questions) == questions else { throw WrongAnswer() }
            let work = (threadCPUTime() - start) / Double(questions) * 1e6
            start = threadCPUTime()
            for _ in 0..<verifications { guard client.verify() else { throw WrongAnswer() } }
            let floor = (threadCPUTime() - start) / Double(verifications) * 1e6
            // The first round warms up.
            guard round > 0 else { continue }
            works.append(work)
            floors.append(floor)
        }
        let (work, floor) = (works.median, floors.median)
        print("\(allows): \(format(work)) µs, floor \(format(floor)) µs")
        print("ratio \(allows) \(format(work / floor)) <=0.006")
    }

    private struct WrongAnswer: Error {}
}
