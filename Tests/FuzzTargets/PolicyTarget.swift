import TenureCore
import TenurePolicyFile

/// Reads any text as a policy file, which must not trap.
func tryPolicy(_ input: [UInt8]) {
    _ = try? PolicyFile.read(
        input, named: "policy.yaml",
        releaseList: { _ in
            Array("version,date\n1,2014-06-10\n120,2015-06-10T18:00:00Z\n".utf8)
        })
}

/// Reads a compiled policy as an app does, and checks that it stays the same when it is compiled again.
func tryCompiledPolicy(_ input: [UInt8]) {
    guard let policy = try? PolicyFile.read(input, named: "policy.json") else { return }
    guard let again = try? PolicyFile.read(PolicyFile.compile(policy), named: "policy.json"), again == policy else {
        fatalError("a policy does not survive being compiled")
    }
}
