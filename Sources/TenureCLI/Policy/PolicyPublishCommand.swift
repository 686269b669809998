import ArgumentParser
import Foundation
import TenureAPI
import TenurePolicyFile
import TenureServer

struct PolicyPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Rehearse a policy (a dry run over all customers of a service), then publish it.",
        discussion: """
            Shows how many customers gain and lose entitlements, and what `tenure policy check` finds. Refuses a policy \
            with errors that the policy doesn't acknowledge. If a customer would lose or gain something, the command \
            refuses and prints the options that allow it. The new policy decides from each customer's next request on. \
            Docs/publishing.md explains publishing.

            Exit codes:
            0   published, or rehearsed with --rehearse.
            2   refused: customers lose or gain something, or the policy has mistakes or errors.
                With --rehearse: the policy has mistakes, or there are no customers.
            1   any other refusal, or no service responds.
            64  wrong usage.

            Examples:
              tenure policy publish policy.yaml --rehearse --key-file policy.key
              tenure policy publish policy.yaml --reason "free from 3.0 on" \\
                  --key-file policy.key
              tenure policy publish policy.yaml --reason "boundary was wrong" \\
                  --take-from 12 --rehearsal reh_x --key-file policy.key
            """)

    @Argument(
        help: "The policy, in YAML or JSON; - for standard input. A release list that it names is published with it.")
    var file: String

    @OptionGroup var publishing: PublishingOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let compiled = try printingMistakes { try PolicyOnDisk(path: file).compiled() }
        try await publishing.run(
            service.client(), rehearsing: RehearseRequest(policy: String(decoding: compiled, as: UTF8.self)),
            publishingAt: "/v1/admin/policies")
    }
}

struct PolicyRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Publish an older version of the policy again.",
        discussion: """
            Works like `publish`: the version is rehearsed, and refused if a customer would lose something. Promises \
            (rights that a published policy gave to customers) that a later publication ended take effect again. Without \
            --to, the version before the current one is published.

            Exit codes: those of `publish`.

            Example:
              tenure policy rollback --reason "boundary was right after all" \\
                  --key-file policy.key
            """)

    @Option(help: .value("version", "The version to publish.")) var to: Int64?

    @OptionGroup var publishing: PublishingOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await publishing.run(
            service.client(), rehearsing: RehearseRequest(version: to),
            publishingAt: "/v1/admin/policies/rollback")
    }
}

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
        if json { return Terminal.standardOutput.write(encoded: answer) }
        for publication in answer.publications {
            let effect =
                "\(publication.gaining) gained, \(publication.losing) lost, \(counted(publication.ended, "promise")) ended"
            let counts = publication.action == "start" ? [] : [effect]
            let people = [publication.author.map { "by \($0)" }, "key \(publication.actor)"].compactMap { $0 }
            let line =
                [
                    "\(publication.publication)", publication.at, "version \(publication.version)",
                    publication.action, people.joined(separator: ", "),
                ] + counts + (publication.reason.map { ["“\($0)”"] } ?? [])
            Terminal.standardOutput.write(Terminal.escaped(line.joined(separator: "  ")))
        }
        if let version = answer.versions.first(where: \.isCurrent) {
            Terminal.standardOutput.write("version \(version.version) is in effect")
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
