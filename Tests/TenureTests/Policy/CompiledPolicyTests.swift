import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

/// Files of this repository.
enum RepositoryFolder {
    static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// All policies in the repository's examples and tests.
    static func policies() throws -> [String: Policy] {
        var files = ["Examples/calculator/policy.yaml", "Tests/PolicyCases/policy.yaml"]
        let scenarios = try FileManager.default.contentsOfDirectory(atPath: url.path + "/Examples/scenarios")
        files += scenarios.filter { $0.hasSuffix(".policy.yaml") }.map { "Examples/scenarios/\($0)" }
        var policies: [String: Policy] = [:]
        for file in files {
            let file = url.appendingPathComponent(file)
            policies[file.path] = try PolicyFile.read([UInt8](try Data(contentsOf: file)), named: file.path) { list in
                [UInt8](try Data(contentsOf: file.deletingLastPathComponent().appendingPathComponent(list)))
            }
        }
        return policies
    }

    static func calculator() throws -> Policy {
        try #require(try policies()[url.path + "/Examples/calculator/policy.yaml"])
    }
}

@Suite struct CompiledPolicyTests {
    private func refusal(_ data: Data) -> String? {
        do throws(PolicyFileError) {
            _ = try Policy.compiled(data)
            return nil
        } catch {
            return error.description
        }
    }

    private func refusal(_ text: String) -> String? { refusal(Data(text.utf8)) }

    @Test func `every policy of the repository is the same after compiling`() throws {
        let policies = try RepositoryFolder.policies()
        #expect(policies.count >= 6)
        for (file, policy) in policies {
            let compiled = Data(PolicyFile.compile(policy))
            let again = try Policy.compiled(compiled)
            #expect(again == policy, "\(file)")
            #expect(again.releases == policy.releases && again.buildNumbers == policy.buildNumbers, "\(file)")
            #expect(Data(PolicyFile.compile(again)) == compiled, "\(file)")
        }
    }

    @Test func `a text that isn't a compiled policy is refused with its position`() throws {
        let text = String(decoding: PolicyFile.compile(try RepositoryFolder.calculator()), as: UTF8.self)
        #expect(refusal(text) == nil)
        #expect(refusal("") != nil)
        #expect(refusal("app: { bundleID: com.example.calculator }")?.hasPrefix("policy.json:1:1: ") == true)
        #expect(refusal("[]")?.contains("this looks like a list, not like a policy") == true)
        let unknown = text.replacingOccurrences(of: "\"inDoubt\"", with: "\"inDebt\"")
        #expect(refusal(unknown)?.contains("`inDebt` is unknown here") == true)
        let twice = text.replacingOccurrences(of: "{\"app\"", with: "{\"inDoubt\":\"favorCustomer\",\"app\"")
        #expect(refusal(twice)?.contains("`inDoubt` is written twice") == true)
        #expect(refusal(text + "{}")?.contains("unexpected text after the value") == true)
        #expect(refusal(Data(text.utf8) + [0xFF])?.contains("aren't UTF-8") == true)
        #expect(refusal(String(repeating: " ", count: 1 << 20) + text)?.contains("at most 1048576") == true)
    }

    @Test func `a compiled policy that names a file with its release list is refused, and the file isn't opened`()
        throws
    {
        let text = """
            {"app":{"bundleID":"com.example.calculator"},"eras":[{"name":"paid","model":"paid"}],
            "releases":"/etc/hostname","entitlements":{"everything":{"honors":["paid"]}}}
            """
        #expect(refusal(text)?.contains("a policy that is read from memory can't name another file") == true)
    }

    @Test func `a damaged or truncated compiled policy is refused, or is still a valid policy, without a crash`() throws
    {
        let bytes = PolicyFile.compile(try RepositoryFolder.calculator())
        var random = SystemRandomNumberGenerator()
        for _ in 0..<400 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            // It is either a valid policy that compiles and reads again, or it is refused with a position.
            do throws(PolicyFileError) {
                let policy = try Policy.compiled(Data(damaged))
                #expect(try Policy.compiled(Data(PolicyFile.compile(policy))) == policy)
            } catch {
                #expect(!error.mistakes.isEmpty)
            }
        }
        for length in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(refusal(Data(bytes.prefix(length))) != nil)
        }
    }
}
