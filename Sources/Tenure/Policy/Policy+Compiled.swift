import Foundation
import TenureCore
import TenurePolicyFile

extension Policy {
    /// Reads what `tenure policy compile` wrote: JSON, at most 1 MiB, as an app bundles it or a server sends it.
    ///
    /// It is read as strictly as by the command `tenure policy check`. Unknown keys, duplicate keys and a release list in
    /// another file are errors, each with its line and column.
    static func compiled(
        _ data: Data, named fileName: String = "policy.json"
    ) throws(PolicyFileError) -> Policy {
        // Whatever the file is called: in an app there is no YAML.
        try PolicyFile.read(data, named: fileName.hasSuffix(".json") ? fileName : fileName + ".json")
    }
}
