import Foundation
import TenureCore
import TenurePolicyFile

/// Reads compiled policies.
extension Policy {
    /// Reads the output of `tenure policy compile`: JSON of at most 1 MiB, bundled with the app or sent by a server.
    ///
    /// Reads the file as strictly as `tenure policy check` does. Unknown keys, duplicate keys and a reference to a
    /// release list in another file are errors, each with its line and column.
    static func compiled(
        _ data: Data, named fileName: String = "policy.json"
    ) throws(PolicyFileError) -> Policy {
        // The name's extension selects the format. Always read JSON, because an app contains no YAML.
        try PolicyFile.read(data, named: fileName.hasSuffix(".json") ? fileName : fileName + ".json")
    }
}
