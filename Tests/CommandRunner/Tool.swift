import Dispatch
package import Foundation

/// Runs programs of the operating system, such as `tar` and `curl`.
package enum Tool {
    /// Runs the program at `path`, and waits until it has ended.
    @discardableResult
    package static func run(_ path: String, _ arguments: [String]) throws -> Command.Result {
        // Files instead of pipes: another child process that is started meanwhile may keep a pipe open.
        let folder = try Folder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        for name in ["out", "err"] { try folder.write("", to: name) }
        process.standardOutput = try FileHandle(forWritingTo: folder.url("out"))
        process.standardError = try FileHandle(forWritingTo: folder.url("err"))
        try process.start()
        process.waitUntilExit()
        return Command.Result(
            status: process.terminationStatus, output: try folder.text("out"), errors: try folder.text("err"))
    }

    /// Runs a tool that takes long, on a separate thread. There are only as many threads for Swift's tasks as
    /// processors: if tests waited on them, a server in the same process couldn't respond.
    package static func runOnSeparateThread(_ path: String, _ arguments: [String]) async throws -> Command.Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try run(path, arguments) }) }
        }
    }
}

extension Process {
    private static let starts = NSLock()

    /// Starts the process while no other process is being started.
    ///
    /// Foundation notices the end of a child process by a socket, which it closes in all other children that it knows.
    /// A child that is started at the same moment may inherit the socket. Then a wait for the end of one child would
    /// last until both have ended. The product itself starts only `gzip`, for compressed evidence, without this lock.
    package func start() throws {
        Self.starts.lock()
        defer { Self.starts.unlock() }
        try run()
    }
}
