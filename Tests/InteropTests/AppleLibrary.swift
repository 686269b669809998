import CommandRunner
import Foundation
import TenureAppStore
import TenureJSON

/// Apple's library for Python, in the environment that `TENURE_INTEROP_PYTHON` names (`make test` makes one).
enum AppleLibrary {
    static let python = ProcessInfo.processInfo.environment["TENURE_INTEROP_PYTHON"]

    /// An artifact, and the settings with which Apple's library verifies it.
    struct Artifact: Encodable {
        let name: String
        let kind: String
        let jws: String
        let root: Data
        let bundleID: String
        let appAppleID: Int64
        let environment: String
    }

    /// What Apple's library says about an artifact.
    struct Verdict {
        /// The error of Apple's library; nil if it accepts the artifact.
        let error: String?
        let fields: JSONValue?
    }

    private static let scripts = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Interop")

    /// Runs one of the scripts with JSON, and returns its JSON output.
    static func run(_ script: String, _ json: [UInt8]) async throws -> JSONValue {
        let input = FileManager.default.temporaryDirectory.appendingPathComponent("interop-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: input) }
        try Data(json).write(to: input)
        let script = scripts.appendingPathComponent(script).path
        let result = try await Tool.runOnSeparateThread(python ?? "", [script, input.path])
        guard result.status == 0 else { throw Failure(said: "\(result.status): \(result.errors)") }
        return try JSONValue(parsing: [UInt8](result.output.utf8))
    }

    static func verify(_ artifacts: [Artifact]) async throws -> [Verdict] {
        guard case .array(let verdicts) = try await run("interop.py", Array(JSONEncoder().encode(artifacts))) else {
            throw Failure(said: "no list of verdicts")
        }
        return verdicts.map { verdict in
            guard case .object(let object) = verdict else { return Verdict(error: "no verdict", fields: nil) }
            let error: String? = if case .string(let text)? = object["error"] { text } else { nil }
            return Verdict(error: error, fields: object["fields"])
        }
    }

    /// A script that failed.
    struct Failure: Error {
        let said: String
    }
}
