/// Why a benchmark can't continue. `Bench` prints the message and exits with 1.
struct BenchmarkFailure: Error, CustomStringConvertible {
    /// What happened, with the value that caused it.
    let description: String

    init(_ description: String) { self.description = description }
}
