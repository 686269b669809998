import CommandRunner
import Foundation

/// A process with an app that has the asset pack `piano`: see `ContentProcess`.
final class ContentClient {
    let command: RunningCommand
    private let commands: URL

    /// - Parameters:
    ///   - device: the folder in which the app stores everything.
    ///   - script: a shell script that starts the app with `exec "$@"`, in a separate namespace where it can mount.
    init(
        device: String, from url: String, key: String, settings: [String: String] = [:], script: String? = nil
    ) throws {
        commands = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-commands-\(UUID().uuidString)")
        try Data().write(to: commands)
        let program = Command.executable(named: "ContentProcess")
        let arguments = ["app", device, url, key, commands.path] + settings.map { "\($0.key)=\($0.value)" }
        if let script {
            let (shell, options) = Namespace.command(for: script)
            command = try RunningCommand(options + [program.path] + arguments, executable: shell)
        } else {
            command = try RunningCommand(arguments, executable: program)
        }
    }

    deinit { try? FileManager.default.removeItem(at: commands) }

    func send(_ command: String) throws {
        let file = try FileHandle(forWritingTo: commands)
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data((command + "\n").utf8))
    }

    /// The complete lines of the process's output.
    var lines: [String] {
        command.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The bytes of the last progress; 0 before the first one.
    var bytes: Int64 { progress.last ?? 0 }
    /// The bytes of every progress.
    var progress: [Int64] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            return words.first == "downloading" && words.count == 3 ? Int64(words[1]) : nil
        }
    }

    struct Timeout: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits for a matching line, beginning with line number `start`, and returns it.
    @discardableResult
    func reaches(
        _ what: String, from start: Int = 0, seconds: Double = 120, _ isWanted: (String) -> Bool
    ) async throws -> String {
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            if let line = lines.dropFirst(start).first(where: isWanted) { return line }
            try await Task.sleep(nanoseconds: 3_000_000)
        }
        throw Timeout(description: "no \(what) in \(lines.suffix(12)) \(command.errors.suffix(1000))")
    }

    @discardableResult
    func reaches(line: String, from start: Int = 0, seconds: Double = 120) async throws -> String {
        try await reaches("`\(line)`", from: start, seconds: seconds) { $0 == line }
    }

    @discardableResult
    func reaches(prefix: String, from start: Int = 0, seconds: Double = 120) async throws -> String {
        try await reaches("`\(prefix)`", from: start, seconds: seconds) { $0.hasPrefix(prefix) }
    }

    func reaches(bytes: Int64) async throws {
        // Several failures in a row, each with its wait, can come before the next bytes.
        try await reaches("\(bytes) bytes", seconds: 180) { _ in self.bytes >= bytes }
    }

    /// Compares the installed pack with a folder, and returns the difference.
    func comparison(with folder: String) async throws -> String {
        let start = lines.count
        try send("compare \(folder)")
        return try await reaches("comparison", from: start) {
            $0 == "identical" || $0.hasPrefix("different") || $0.hasPrefix("not comparable")
        }
    }

    func kill() async { _ = await command.end(by: SIGKILL) }

    func quit() async throws {
        try send("quit")
        _ = await command.ended()
    }
}

/// Mount namespaces, in which a test can mount file systems. Only on Linux, and not in every container.
enum Namespace {
    static func command(for script: String) -> (shell: URL, options: [String]) {
        let isRoot = geteuid() == 0
        return (
            URL(fileURLWithPath: "/usr/bin/unshare"), [isRoot ? "-m" : "-Urm", "/bin/sh", "-c", script, "sh"]
        )
    }

    /// Whether a file system can be mounted in a mount namespace.
    static let isPossible: Bool = {
        let (shell, options) = command(for: "mount -t tmpfs none /mnt")
        guard FileManager.default.isExecutableFile(atPath: shell.path) else { return false }
        let process = Process()
        (process.executableURL, process.arguments) = (shell, options)
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.start()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
