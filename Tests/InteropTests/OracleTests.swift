import CommandRunner
import Foundation
import Testing

/// Compares the engine with a second implementation of the rules, in `Tests/Oracle`. Both decide about random customers
/// under random policies.
@Suite(.enabled(if: Oracle.python != nil, "TENURE_INTEROP_PYTHON names no Python"))
struct OracleTests {
    @Test func `tenure decide agrees with the rules' second implementation in Python for random customers`()
        async throws
    {
        let result = try await Oracle.run(
            "compare.py", "--tool", Command.executable.path, "--policies", "\(Oracle.policies)", "--seed", Oracle.seed)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        // Without any comparison, there would be no difference either.
        #expect(result.output.contains("\(Oracle.policies) policies, "))
    }

    @Test func `a rehearsal counts random customers as the rules' second implementation in Python does`() async throws {
        let result = try await Oracle.run(
            "rehearsal.py", "--tool", Command.executable.path, "--policies", "4", "--customers", "10")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix(" customers rehearsed: 0 differences; 0 rejected\n"))
        #expect(!result.output.hasPrefix("0 "))
    }

    @Test func `the rules' second implementation in Python decides every example in rows.py as expected`() async throws
    {
        let result = try await Oracle.run("check_rows.py")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains(" rows, 0 differences"))
    }

    @Test func `the comparison fails if decide differs from the rules' second implementation in Python`() async throws {
        let result = try await Oracle.run(
            "compare.py", "--tool", Command.executable.path, "--policies", "10", "--seed", "1", "--shrink", "0",
            "--break-rule", "D4: what has ended")
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        #expect(result.output.contains("the rules for "))
    }
}

/// The Python scripts in `Tests/Oracle`, which need nothing but the standard library.
private enum Oracle {
    static let python = ProcessInfo.processInfo.environment["TENURE_INTEROP_PYTHON"]

    /// The number of policies; `TENURE_ORACLE_CUSTOMERS=10000 make test` compares more.
    static let policies: Int = {
        let customers = ProcessInfo.processInfo.environment["TENURE_ORACLE_CUSTOMERS"].flatMap { Int($0) } ?? 2400
        return max(1, customers / customersOfEachPolicy)
    }()
    static let customersOfEachPolicy = 40
    static let seed = ProcessInfo.processInfo.environment["TENURE_ORACLE_SEED"] ?? "1"

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Oracle")

    static func run(_ script: String, _ arguments: String...) async throws -> Command.Result {
        try await Tool.runOnSeparateThread(
            python ?? "", ["-B", folder.appendingPathComponent(script).path] + arguments)
    }
}
