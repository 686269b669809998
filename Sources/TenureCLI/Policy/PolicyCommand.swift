import ArgumentParser
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
