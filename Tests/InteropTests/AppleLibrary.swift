import Foundation
import TenureAppStore

/// Apple's library for Python, in the environment that `TENURE_INTEROP_PYTHON` names (`make test` makes one).
enum AppleLibrary {
    static let python = ProcessInfo.processInfo.environment["TENURE_INTEROP_PYTHON"]

    struct Artifact: Encodable {
        let name: String
        let kind: String
        let jws: String
        let root: Data
        let bundleID: String
        let appAppleID: Int64
        let environment: String
    }

    struct Verdict {
        /// Nil where it accepts.
        let error: String?
        let fields: JSONValue?
    }

    private static let scripts = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Interop")

    /// What one of the scripts says of its input, both JSON.
    static func run(_ script: String, _ json: [UInt8]) throws -> JSONValue {
        let input = FileManager.default.temporaryDirectory.appendingPathComponent("interop-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: input) }
        try Data(json).write(to: input)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python ?? "")
        process.arguments = [scripts.appendingPathComponent(script).path, input.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return try JSONValue(parsing: [UInt8](text))
    }

    static func judge(_ artifacts: [Artifact]) throws -> [Verdict] {
        guard case .array(let verdicts) = try run("interop.py", Array(JSONEncoder().encode(artifacts))) else {
            throw Failure(status: 0)
        }
        return verdicts.map { verdict in
            guard case .object(let object) = verdict else { return Verdict(error: "no verdict", fields: nil) }
            let error: String? = if case .string(let text)? = object["error"] { text } else { nil }
            return Verdict(error: error, fields: object["fields"])
        }
    }

    struct Failure: Error {
        let status: Int32
    }
}
