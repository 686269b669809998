import CoreFoundation
import Foundation

/// A ratio to measure: the CPU time of our code, divided by that of a floor, the least work that any implementation has
/// to do.
struct Ratio {
    let name: String
    /// The target value with its direction, such as `<=1.2`.
    let goal: String
    let work: () throws -> Void
    let floor: () throws -> Void
    /// How often the work is repeated between two readings of the clock.
    let repetitions: Int
    /// The same for the floor.
    let floorRepetitions: Int

    /// Runs work and floor in turn for several rounds. Prints the ratio of the medians of the thread's CPU time.
    func measure(rounds: Int = 15) throws {
        try run(work, max(1, repetitions / 10))
        try run(floor, max(1, floorRepetitions / 10))
        var works: [Double] = []
        var floors: [Double] = []
        for _ in 0..<rounds {
            works.append(try run(work, repetitions))
            floors.append(try run(floor, floorRepetitions))
        }
        let (work, floor) = (works.median, floors.median)
        print(
            "\(name): \(format(work)) µs, floor \(format(floor)) µs; rounds \(format(works.min() ?? 0)) to \(format(works.max() ?? 0))"
        )
        print("ratio \(name) \(format(work / floor)) \(goal)")
    }

    /// Returns the CPU time of one repetition in microseconds.
    @discardableResult private func run(_ body: () throws -> Void, _ count: Int) throws -> Double {
        let start = threadCPUTime()
        for _ in 0..<count { try body() }
        return (threadCPUTime() - start) / Double(count) * 1e6
    }
}

func format(_ value: Double) -> String {
    String(format: value < 1 ? "%.4f" : "%.2f", value)
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}

/// The processor time of the current thread in seconds.
func threadCPUTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The processor time of all threads in seconds. On a busy machine it's steadier than the wall time.
func processCPUTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Uses a value, so that the optimizer can't remove the work that computes it.
@inline(never) func keep<Value>(_ value: Value) {}
