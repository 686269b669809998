import ArgumentParser
import Foundation
import TenureAPI
import TenurePolicyFile

struct PolicyPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Rehearse a policy over a service's whole record, and let it decide.",
        discussion: """
            Shows who gains and who loses, and what the linter finds. It publishes only a policy without errors, and only \
            where nobody loses or gains anything: otherwise it says with which options it goes on. Every customer's next sync or read follows it. Docs/publishing.md has the rest.

            Exit codes: 0 published, or rehearsed with --rehearse; 2 refused, since it takes or gives \
            something or has errors, or nobody was rehearsed; 1 any other refusal, or no service answers; 64 wrong usage.

            Examples:
              tenure policy publish policy.yaml --rehearse --key-file policy.key
              tenure policy publish policy.yaml --reason "free from 3.0 on" --key-file policy.key
              tenure policy publish policy.yaml --reason "boundary was wrong" --take-from 12 --rehearsal reh_x \\
                --key-file policy.key
            """
    )

    @Argument(help: "The policy, in YAML or JSON; its release list is put into it. - for standard input.")
    var file: String

    @OptionGroup var publishing: PublishingOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await reportingErrors {
            let compiled: [UInt8]
            do {
                compiled = try PolicyOnDisk(path: file).compiled()
            } catch let error as PolicyFileError {
                for mistake in error.mistakes { Terminal.standardError.write(mistake.description) }
                throw ExitCode.refused
            }
            try await publishing.run(
                service.client(), rehearsing: RehearseRequest(policy: String(decoding: compiled, as: UTF8.self)),
                publishingAt: "/v1/admin/policies")
        }
    }
}

struct PolicyRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Let an older version of the policy decide again.",
        discussion: """
            A publication like any other: rehearsed, and refused where it takes something. Promises that later \
            publications ended bind again. Without --to, the version that decided before the present one.

            Exit codes as of `publish`.

            Example:
              tenure policy rollback --reason "boundary was right after all" --key-file policy.key
            """
    )

    @Option(help: ArgumentHelp("The version that is to decide.", valueName: "version"))
    var to: Int64?

    @OptionGroup var publishing: PublishingOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await reportingErrors {
            try await publishing.run(
                service.client(), rehearsing: RehearseRequest(version: to),
                publishingAt: "/v1/admin/policies/rollback")
        }
    }
}

struct PolicyVersionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions",
        abstract: "List the versions of a service's policy, and when each began to decide.",
        discussion: """
            Example:
              tenure policy versions --key-file policy.key
            """
    )

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: `versions` and `publications`.")
    var json = false

    func run() async throws {
        try await reportingErrors {
            let answer: PoliciesAnswer = try await service.client().get("/v1/admin/policies")
            if json { return PublishingOptions.write(answer) }
            for publication in answer.publications {
                let effect =
                    "\(publication.gaining) gained, \(publication.losing) lost, \(publication.ended) promises ended"
                let counts = publication.act == "start" ? [] : [effect]
                let people = [publication.author.map { "by \($0)" }, "key \(publication.actor)"].compactMap { $0 }
                let line =
                    [
                        "\(publication.publication)", publication.at, "version \(publication.version)",
                        publication.act, people.joined(separator: ", "),
                    ] + counts + (publication.reason.map { ["“\($0)”"] } ?? [])
                Terminal.standardOutput.write(Terminal.clean(line.joined(separator: "  ")))
            }
            if let version = answer.versions.first(where: \.decides) {
                Terminal.standardOutput.write("version \(version.version) decides")
            }
        }
    }
}

struct PolicyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Write a version of a service's policy as compact JSON.",
        discussion: """
            Exit codes: 0 written, 1 no such version, or no service answers, 64 wrong usage.

            Example:
              tenure policy show 3 --out policy-3.json --key-file policy.key
            """
    )

    @Argument(help: "The version.")
    var version: Int64

    @OptionGroup var service: ServiceOptions

    @Option(help: ArgumentHelp("Where to write; without it, standard output.", valueName: "file"))
    var out: String?

    @OptionGroup var replacing: ReplaceOption

    func run() async throws {
        try await reportingErrors {
            var plan = FilePlan()
            plan.reads(service.keyFile)
            plan.writes(out)
            try plan.check(replacing: replacing.force)
            let answer: PolicyVersionAnswer = try await service.client().get("/v1/admin/policies/\(version)")
            try OutputFile(path: out, replaces: replacing.force).write(Array((answer.policy ?? "").utf8))
        }
    }
}
