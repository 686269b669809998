import Foundation
import Testing

/// Runs the built command as a user does.
struct Command {
    struct Result {
        let status: Int32
        let output: String
        let errors: String

        /// The output as JSON.
        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        }
    }

    /// The command lies beside the test bundle.
    static let executable = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("tenure")

    @discardableResult
    static func run(_ arguments: String..., input: Data? = nil) throws -> Result {
        try run(arguments, input: input)
    }

    @discardableResult
    static func run(_ arguments: [String], input: Data? = nil) throws -> Result {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["NO_COLOR": "1"]) { $1 }
        // Files instead of pipes: however much a command says, nobody waits for a reader.
        let scratch = try Folder()
        let output = scratch.url("out")
        let errors = scratch.url("err")
        try Data().write(to: output)
        try Data().write(to: errors)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        let inputFile = scratch.url("in")
        try (input ?? Data()).write(to: inputFile)
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        try process.run()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }
}

/// A folder that goes when the test is over.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "tenure-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

    @discardableResult func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: url(name))
        return url(name).path
    }
}
