import Foundation
public import TenureCore
import TenurePolicyFile

extension ServiceConfiguration {
    /// Reads a policy, and the release list that it names, from files.
    ///
    /// Throws `unreadablePolicy`, or `brokenPolicy` with every mistake.
    public static func readPolicy(at path: String) throws(ServiceError) -> Policy {
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw .unreadablePolicy(path: path, detail: "no such file, or no right to read it")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            return try PolicyFile.read(bytes, named: path) { list in
                [UInt8](try Data(contentsOf: folder.appendingPathComponent(list)))
            }
        } catch {
            throw .brokenPolicy(error.mistakes.map(\.description))
        }
    }
}
