import ArgumentParser
import Foundation
import TenureStore

/// Whether a command may replace files that are already there.
struct ReplaceOption: ParsableArguments {
    @Flag(help: "Replace output files that are already there. A file that the command reads is never replaced.")
    var force = false
}

/// The files that a command reads and writes, checked before it starts: an output must be no input, no other output,
/// and no file that is already there unless the command may replace it.
struct FilePlan {
    private var inputs: [String] = []
    private var outputs: [String] = []

    /// `-` is standard input; nil is no file.
    mutating func reads(_ path: String?) {
        if let path { inputs.append(path) }
    }

    /// A file, or all files of a folder.
    mutating func reads(filesAt path: String) {
        inputs.append(path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        inputs += names.map { "\(path)/\($0)" }
    }

    /// The policy, and the release list that it names.
    mutating func reads(_ policy: PolicyOnDisk) {
        inputs += policy.files
    }

    /// A SQLite database, with what lies beside it while it is open.
    mutating func reads(_ database: RecordDatabase) {
        guard !database.isPostgres else { return }
        inputs += ["", "-wal", "-shm", "-journal"].map { database.text + $0 }
    }

    /// Nil is no file.
    mutating func writes(_ path: String?) {
        if let path { outputs.append(path) }
    }

    /// Throws where a file would be lost.
    func check(replacing: Bool) throws {
        var inputs: [FileIdentity: String] = [:]
        for path in self.inputs {
            let identity = path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path)
            if let identity, identity.kind == .file {
                inputs[identity] = path == "-" ? "standard input" : "`\(path)`"
            }
        }
        var written: Set<Target> = []
        if let output = FileIdentity(descriptor: STDOUT_FILENO), output.kind == .file {
            if let input = inputs[output] {
                throw CommandError(
                    "standard output goes to \(input), which this command reads; send it to another file")
            }
            written.insert(.file(output))
        }
        for path in outputs {
            guard path != "-" else {
                throw CommandError("`-` names no output file; name one, or write `./-` if it has that name")
            }
            let identity = FileIdentity(path: path)
            if let identity, identity.kind == .folder {
                throw CommandError("`\(path)` is a folder; name a file in it")
            }
            if let input = identity.flatMap({ inputs[$0] }) {
                throw CommandError("`\(path)` is \(input), which this command reads; write to another file")
            }
            // What is written to a device or a pipe replaces nothing.
            if identity?.kind == .other { continue }
            guard written.insert(Target(path, identity)).inserted else {
                throw CommandError("`\(path)` would be written twice; name another file for each output")
            }
            if !replacing, FileIdentity.exists(path) {
                throw CommandError("`\(path)` is already there; choose another name, or replace it with --force")
            }
        }
    }

    /// A file that is written, whether or not it is there yet.
    private enum Target: Hashable {
        case file(FileIdentity)
        case new(folder: FileIdentity?, name: String)

        init(_ path: String, _ identity: FileIdentity?) {
            if let identity {
                self = .file(identity)
            } else {
                let url = Self.target(of: URL(fileURLWithPath: path))
                self = .new(
                    folder: FileIdentity(path: url.deletingLastPathComponent().path), name: url.lastPathComponent)
            }
        }

        /// Where links lead, also to a file that isn't there yet: `resolvingSymlinksInPath` keeps such links.
        private static func target(of url: URL) -> URL {
            var url = url
            for _ in 0..<32 {
                guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
                url = URL(fileURLWithPath: next, relativeTo: url.deletingLastPathComponent()).absoluteURL
            }
            return url
        }
    }

    /// `start.end`, or with a number where that is already there or is to be written.
    func freeName(_ start: String, _ end: String) -> String {
        var number = 1
        while true {
            let name = number == 1 ? "\(start).\(end)" : "\(start)-\(number).\(end)"
            let target = Target(name, FileIdentity(path: name))
            if !FileIdentity.exists(name), !outputs.contains(where: { Target($0, FileIdentity(path: $0)) == target }) {
                return name
            }
            number += 1
        }
    }
}
