package import Foundation

/// A tool of the system.
package enum Tool {
    /// Runs it, and waits for its end.
    @discardableResult
    package static func run(_ path: String, _ arguments: [String]) throws -> Command.Result {
        // Files in place of pipes: a child that was started meanwhile may hold on to a pipe.
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
}

extension Process {
    private static let starts = NSLock()

    /// Starts it while no other is being started.
    ///
    /// Foundation learns of its end by a socket that it closes to all other children that it knows of. One that is
    /// started in the same moment may inherit it, and who waits for this end would wait for both. What the product
    /// starts by itself, `gzip` for compressed evidence, is beyond this.
    package func start() throws {
        Self.starts.lock()
        defer { Self.starts.unlock() }
        try run()
    }
}
