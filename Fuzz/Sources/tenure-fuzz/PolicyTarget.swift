import TenureCore
import TenurePolicyFile

/// Whatever the text, there is a policy, or mistakes with their places.
func tryPolicy(_ input: [UInt8]) {
    _ = try? PolicyFile.read(
        input, named: "policy.yaml",
        releaseList: { _ in
            Array("version,date\n1,2014-06-10\n120,2015-06-10T18:00:00Z\n".utf8)
        })
}
