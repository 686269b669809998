import LocalAppStore
import TenurePolicyFile

/// A scenario file: a test with invented customers, their purchases, and the expected decisions. `tenure scenario run`
/// runs it.
struct ScenarioOnDisk {
    let path: String

    /// Reads the scenario. Throws `PolicyFileError` with every mistake in the text, or `CommandError` if the file can't
    /// be read.
    func read() throws -> Scenario {
        try ScenarioReader.read(try InputFile(path: path).bytes(limit: 1 << 20), named: path)
    }

    /// Resolves a path that is relative to the scenario's folder.
    func resolvedPath(_ relative: String) -> String { PolicyFile.path(of: relative, beside: path) }
}
