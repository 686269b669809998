import Foundation
import Testing

@testable import TenurePolicyFile

/// Files of the repository, found from this one.
enum RepositoryFile {
    static func bytes(_ path: String) throws -> [UInt8] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return [UInt8](try Data(contentsOf: root.appendingPathComponent(path)))
    }
}

@Suite struct PolicyCaseTests {
    @Test func `every policy case of the repository holds`() throws {
        let cases = try PolicyCases.read(
            try RepositoryFile.bytes("Tests/PolicyCases/cases.yaml"), named: "cases.yaml",
            policy: (try RepositoryFile.bytes("Tests/PolicyCases/policy.yaml"), "policy.yaml"))
        let results = cases.run()
        #expect(results.count >= 100)
        for result in results where !result.passed {
            Issue.record("\(result.place): \(result.name)\n  \(result.differences.joined(separator: "\n  "))")
        }
    }
}
