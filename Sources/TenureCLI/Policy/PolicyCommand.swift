import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenurePolicyFile

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check, test, compile, sign and publish a policy.",
        subcommands: [
            PolicyCheckCommand.self, PolicyTestCommand.self, PolicyCompileCommand.self, PolicySigningKeyCommand.self,
            PolicySignCommand.self, PolicyPublishCommand.self, PolicyRollbackCommand.self, PolicyVersionsCommand.self,
            PolicyShowCommand.self,
        ])
}

struct PolicyTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Check that a policy decides test cases as expected.",
        discussion: """
            Exit codes: 0 all pass, 2 some fail or the policy has mistakes, 1 a file can't be read, 64 wrong usage.

            Example:
              tenure policy test policy.yaml cases.yaml
            """)

    @Argument(help: "The policy to test. A case can override parts of the policy for itself. The file isn't changed.")
    var policy: String

    @Argument(help: "The cases; see Docs/policy-cases.md.") var cases: String

    @Flag(help: "Write JSON: `passed`, `failed`, `cases` with `name`, `place`, `passed`, `differences`.")
    var json = false

    func run() async throws {
        let source = PolicyOnDisk(path: policy)
        let results = try printingMistakes {
            try PolicyCases.read(
                try InputFile(path: cases).bytes(limit: 16 << 20), named: cases,
                policy: (try source.bytes(), policy), releaseList: source.releaseList
            ).run()
        }
        let failed = results.filter { !$0.passed }
        if json {
            let fields = JSONWriter.object {
                $0.field("passed", results.count - failed.count)
                $0.field("failed", failed.count)
                $0.objects("cases", results) { writer, result in
                    writer.field("name", result.name)
                    writer.field("place", result.position)
                    writer.field("passed", result.passed)
                    writer.field("differences", result.differences)
                }
            }
            terminal.write(json: fields)
        } else {
            for result in failed {
                terminal.write("\(terminal.styled("failed", .red)) \(result.position): \(result.name)")
                for difference in result.differences { terminal.write("  \(difference)") }
            }
            terminal.write("\(results.count - failed.count) of \(results.count) cases pass")
        }
        if !failed.isEmpty { throw ExitCode.refused }
    }
}

struct PolicyCompileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile", abstract: "Write a policy as compact JSON, for the app's bundle.",
        discussion: """
            The output includes the release list. Exit codes: 0 written, 2 mistakes, 1 error, 64 wrong usage.

            Example:
              tenure policy compile policy.yaml --out tenure.json
            """)

    @Argument(help: "The policy, in YAML or JSON; - for standard input.") var file: String

    @Option(help: .value("file", "The file to write. Default: standard output.")) var out: String?

    @OptionGroup var replacing: ReplaceOption

    func run() async throws {
        let source = PolicyOnDisk(path: file)
        try FilePlan(reading: source.files, writing: [out]).check(replacing: replacing.force)
        let compiled = try printingMistakes { try source.compiled() }
        try OutputFile(path: out, replaces: replacing.force).write(compiled)
    }
}

/// A policy file, and the release list to which it may refer.
struct PolicyOnDisk {
    let path: String

    /// Reads the policy's bytes. Throws if the file can't be read.
    func bytes() throws -> [UInt8] { try InputFile(path: path).bytes(limit: PolicyFile.maximumSize) }

    /// The policy's bytes, if the policy can be read again; nil for standard input and pipes, and if it can't be read.
    var bytesIfRereadable: [UInt8]? {
        path == "-"
            ? nil : try? InputFile(path: path).bytes(limit: PolicyFile.maximumSize, acceptsPipe: false)
    }

    /// The paths of the policy and of its release list. Only the policy's path if the policy can't be read, or comes
    /// through standard input or a pipe, which can be read only once.
    var files: [String] {
        guard let bytes = bytesIfRereadable else { return [path] }
        var files = [path]
        _ = PolicyFile.draft(bytes, named: path) { relative in
            files.append(resolvedPath(relative))
            return try releaseList(relative)
        }
        return files
    }

    /// Reads the policy. Throws `PolicyFileError` with every mistake in the text, or `CommandError` if the file can't
    /// be read.
    func read() throws -> Policy { try PolicyFile.read(try bytes(), named: path, releaseList: releaseList) }

    /// Returns the compact JSON for apps and services. Throws as `read` does, and if the JSON would be too large to
    /// read.
    func compiled() throws -> [UInt8] { try PolicyFile.compileChecked(try read(), named: path) }

    /// Returns the bytes of the policy's release list. Its path is relative to the policy's folder.
    func releaseList(_ relative: String) throws -> [UInt8] {
        try InputFile(path: resolvedPath(relative)).bytes(limit: ReleaseListFile.maximumSize, acceptsPipe: false)
    }

    /// Returns the path of a file that a finding names: the policy itself, or its release list.
    func path(of file: String) -> String { file == path ? file : resolvedPath(file) }

    /// Resolves a path that is relative to the policy's folder.
    private func resolvedPath(_ relative: String) -> String { PolicyFile.path(of: relative, beside: path) }
}
