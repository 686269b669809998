public import TenureCore
import TenureFiles
import TenurePolicyFile

extension ServiceConfiguration {
    /// Reads a policy from a file, and the list of the app's releases from the file that the policy names, if any.
    ///
    /// Throws `unreadablePolicy` if the policy can't be read, and `brokenPolicy` with every mistake in it.
    public static func readPolicy(at path: String) throws(ServiceError) -> Policy {
        let bytes: [UInt8]
        do {
            bytes = try contents(of: path, maximumSize: PolicyFile.maximumSize)
        } catch {
            throw .unreadablePolicy(path: path, detail: "\(error.description); check the path")
        }
        do {
            return try PolicyFile.read(bytes, named: path) { list in
                try contents(of: PolicyFile.path(of: list, beside: path), maximumSize: ReleaseListFile.maximumSize)
            }
        } catch {
            throw .brokenPolicy(error.mistakes.map(\.description))
        }
    }

    /// Why a file can't be read. Error messages append the description to the file's name.
    private struct Unreadable: Error, CustomStringConvertible { let description: String }

    private static func contents(of path: String, maximumSize: Int) throws(Unreadable) -> [UInt8] {
        let contents: [UInt8]?
        do {
            contents = try WholeFile(path: path).read(maximumSize: maximumSize)
        } catch {
            throw Unreadable(description: error.reason)
        }
        guard let contents else { throw Unreadable(description: "there is no such file") }
        guard contents.count <= maximumSize else {
            throw Unreadable(description: "the file has more than \(maximumSize) bytes")
        }
        return contents
    }
}
