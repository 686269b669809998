package import Foundation

/// Runs the built command as a user does.
package enum Command {
    /// The exit status and the output of a command that has ended.
    package struct Result {
        package let status: Int32
        package let output: String
        package let errors: String

        /// The output as JSON.
        package func json() throws -> [String: Any] {
            guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                throw CocoaError(.propertyListReadCorrupt)
            }
            return object
        }
    }

    /// The built command, beside the test bundle. Installed, it is named `tenure`.
    package static let executable = executable(named: "tenure-cli")

    /// Another executable of this package.
    package static func executable(named name: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    }

    @discardableResult
    package static func run(_ arguments: String..., input: Data? = nil) async throws -> Result {
        try await run(arguments, input: input)
    }

    @discardableResult
    package static func run(
        _ arguments: [String], input: Data? = nil, environment: [String: String] = [:],
        removing names: [String] = []
    ) async throws -> Result {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !names.contains($0.key) }
            .merging(environment) { $1 }.merging(["NO_COLOR": "1"]) { $1 }
        // Files instead of pipes, so that a command with much output doesn't block.
        let scratch = try Folder()
        for name in ["out", "err"] { try scratch.write("", to: name) }
        process.standardOutput = try FileHandle(forWritingTo: scratch.url("out"))
        process.standardError = try FileHandle(forWritingTo: scratch.url("err"))
        let inputFile = scratch.url("in")
        try (input ?? Data()).write(to: inputFile)
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        try process.start()
        return Result(status: await process.ended(), output: try scratch.text("out"), errors: try scratch.text("err"))
    }
}

extension Process {
    /// Waits until the process has ended, and returns its exit status. Blocks no thread of the task pool, which has
    /// only one per processor.
    fileprivate func ended() async -> Int32 {
        while isRunning {
            // This also waits if the test's task is canceled, so that the process has ended afterward.
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { continuation.resume() }
            }
        }
        // Returns at once. Foundation keeps the process and its files until this is called.
        waitUntilExit()
        return terminationStatus
    }
}

/// A temporary folder that is removed after the test.
package final class Folder: Sendable {
    package let path: String

    package init() throws {
        path = NSTemporaryDirectory() + "tenure-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

    /// The text of a file.
    package func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: url(name)), as: UTF8.self)
    }

    @discardableResult package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: url(name))
        return url(name).path
    }

    /// Writes a file that only its owner may read.
    @discardableResult package func writeSecret(_ text: String, to name: String) throws -> String {
        let path = try write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}

/// A command that runs until the test is over.
package final class RunningCommand {
    private let process = Process()
    private let folder: Folder

    /// Starts the command, with its output in files.
    ///
    /// - Parameters:
    ///   - output: where standard output goes instead, such as to a `PseudoTerminal`.
    ///   - errors: where standard error goes instead.
    package init(
        _ arguments: [String], executable: URL = Command.executable, environment: [String: String] = [:],
        output: FileHandle? = nil, errors: FileHandle? = nil
    ) throws {
        folder = try Folder()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        for name in ["out", "err"] { try Data().write(to: folder.url(name)) }
        process.standardOutput = try output ?? FileHandle(forWritingTo: folder.url("out"))
        process.standardError = try errors ?? FileHandle(forWritingTo: folder.url("err"))
        try process.start()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The process ID.
    package var identifier: Int32 { process.processIdentifier }

    package var isRunning: Bool { process.isRunning }

    /// The resident memory in bytes, on Linux; nil elsewhere.
    package var residentMemory: Int? { memory("VmRSS:") }

    /// The peak of the resident memory in bytes, on Linux; nil elsewhere.
    package var peakMemory: Int? { memory("VmHWM:") }

    private func memory(_ name: String) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    /// Waits until the command has ended, and returns its exit status.
    package func ended() async -> Int32 { await process.ended() }

    package func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    package var output: String { text("out") }
    package var errors: String { text("err") }

    private func text(_ name: String) -> String { (try? folder.text(name)) ?? "" }

    /// Waits until the command writes this text to standard error. Returns false if it doesn't within half a minute.
    package func says(_ text: String) async throws -> Bool {
        for _ in 0..<600 where process.isRunning {
            if errors.contains(text) { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return errors.contains(text)
    }

    /// Waits until the command writes this text to standard output. Returns false if it doesn't.
    package func writes(_ text: String) async throws -> Bool {
        for _ in 0..<600 where process.isRunning {
            if output.contains(text) { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return output.contains(text)
    }

    /// Waits until the command prints the port on which it listens. Returns nil if it never does.
    package func port() async throws -> Int? {
        for _ in 0..<600 where process.isRunning {
            if let line = output.split(separator: "\n").first(where: { $0.contains("://") }),
                let port = line.split(separator: ":").last.flatMap({ Int($0) })
            {
                return port
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }

    /// Sends a signal, waits until the command has ended, and returns its exit status.
    package func end(by signal: Int32) async -> Int32 {
        self.signal(signal)
        return await ended()
    }
}
