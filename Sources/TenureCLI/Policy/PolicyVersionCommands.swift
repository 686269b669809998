import ArgumentParser
import TenureServer

struct PolicyVersionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "List the versions of a service's policy, and when each was published.",
        discussion: """
            Example:
              tenure policy versions --key-file policy.key
            """)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: `versions` and `publications`.") var json = false

    func run() async throws {
        let answer: PoliciesAnswer = try await service.client().get("/v1/admin/policies")
        if json { return terminal.write(encoded: answer) }
        for publication in answer.publications {
            let effect =
                "\(publication.gaining) gained, \(publication.losing) lost, \(counted(publication.ended, "promise")) ended"
            // `start` is the first policy of a new database, which had no customers.
            let counts = publication.action == "start" ? [] : [effect]
            let people = [publication.author.map { "by \($0)" }, "key \(publication.actor)"].compactMap { $0 }
            let line =
                [
                    "\(publication.publication)", publication.at, "version \(publication.version)",
                    publication.action, people.joined(separator: ", "),
                ] + counts + (publication.reason.map { ["“\($0)”"] } ?? [])
            terminal.write(Terminal.escaped(line.joined(separator: "  ")))
        }
        if let version = answer.versions.first(where: \.isCurrent) {
            terminal.write("version \(version.version) is in effect")
        }
    }
}

struct PolicyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Write a version of a service's policy as compact JSON.",
        discussion: """
            Exit codes: 0 written, 1 no such version, or no service responds, 64 wrong usage.

            Example:
              tenure policy show 3 --out policy-3.json --key-file policy.key
            """)

    @Argument(help: "The version.") var version: Int64

    @OptionGroup var service: ServiceOptions

    @Option(help: .value("file", "The file to write. Default: standard output.")) var out: String?

    @OptionGroup var replacing: ReplaceOption

    func run() async throws {
        try FilePlan(reading: [service.keyFile], writing: [out]).check(replacing: replacing.force)
        let answer: PolicyVersionAnswer = try await service.client().get("/v1/admin/policies/\(version)")
        try OutputFile(path: out, replaces: replacing.force).write(Array((answer.policy ?? "").utf8))
    }
}
