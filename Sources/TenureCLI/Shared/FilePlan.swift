import ArgumentParser
import Foundation
import TenureFileAttributes
import TenureStore

/// The option that lets a command replace existing files.
struct ReplaceOption: ParsableArguments {
    @Flag(help: "Replace existing output files. A file that the command reads is never replaced.")
    var force = false
}

/// The files that a command reads and writes, checked before it starts. An output can't be an input or another output.
/// An existing file is refused unless the command may replace it.
struct FilePlan {
    private let inputs: [String]
    private let outputs: [String]

    /// Creates a plan from paths. An input `-` is standard input, and nil is no file.
    init(reading inputs: [String?] = [], writing outputs: [String?]) {
        self.inputs = inputs.compactMap(\.self)
        self.outputs = outputs.compactMap(\.self)
    }

    /// Returns the path and, if it is a folder, the paths of all files in it.
    static func files(at path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return [path] + names.map { "\(path)/\($0)" }
    }

    /// Throws if the command would overwrite a file by mistake.
    ///
    /// - Parameter replacing: whether existing outputs may be replaced.
    func check(replacing: Bool) throws {
        // The files that the command reads, with their names in messages.
        var inputNames: [FileIdentity: String] = [:]
        for path in inputs {
            let identity = path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path)
            if let identity, identity.kind == .file {
                inputNames[identity] = path == "-" ? "standard input" : "`\(path)`"
            }
        }
        var written: Set<Target> = []
        if let output = FileIdentity(descriptor: STDOUT_FILENO), output.kind == .file {
            if let input = inputNames[output] {
                throw CommandError(
                    "standard output goes to \(input), which this command reads; redirect it to another file")
            }
            written.insert(.file(output))
        }
        for path in outputs {
            guard path != "-" else {
                throw CommandError("`-` isn't an output file; pass a name, or `./-` for a file with that name")
            }
            let identity = FileIdentity(path: path)
            if let identity, identity.kind == .folder {
                throw CommandError("`\(path)` is a folder; name a file in it")
            }
            if let input = identity.flatMap({ inputNames[$0] }) {
                // If both have the same path, the message names it once.
                let file = input == "`\(path)`" ? "a file" : "\(input),"
                throw CommandError("`\(path)` is \(file) which this command reads; write to another file")
            }
            // Writing to a device or a pipe doesn't replace a file.
            if identity?.kind == .other { continue }
            guard written.insert(Target(path, identity)).inserted else {
                throw CommandError("`\(path)` would be written twice; pass a different file for each output")
            }
            if !replacing, FileIdentity.exists(path) {
                throw CommandError("`\(path)` already exists; choose another name, or replace it with --force")
            }
        }
    }

    /// Identifies an output file: an existing file, or the name of a new file in its folder.
    private enum Target: Hashable {
        case file(FileIdentity)
        case new(folder: FileIdentity?, name: String)

        init(_ path: String, _ identity: FileIdentity?) {
            if let identity {
                self = .file(identity)
            } else {
                let url = URL(fileURLWithPath: path).targetOfLinks
                self = .new(
                    folder: FileIdentity(path: url.deletingLastPathComponent().path), name: url.lastPathComponent)
            }
        }
    }

    /// Returns the file name `start.end`. If that file exists or is another output, returns `start-2.end` or the next
    /// free number.
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

extension URL {
    /// The target of the symbolic links at this URL, even if the target doesn't exist yet. `resolvingSymlinksInPath`
    /// requires that it exists.
    var targetOfLinks: URL {
        var url = self
        // Links may form a circle, so follow at most 32.
        for _ in 0..<32 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(fileURLWithPath: next, relativeTo: url.deletingLastPathComponent()).absoluteURL
        }
        return url
    }
}
