import ArgumentParser
import Foundation
import TenureCore
import TenurePolicyFile
import TenurePolicyLint

struct PolicyCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report the mistakes and the unintended effects of a policy file.",
        discussion: """
            Errors are mistakes that keep the file from being a policy, customers who lose what they paid for, and \
            others who get it for nothing. Warnings may become that; notes are worth knowing. Docs/policy-check.md \
            has every rule by its code.

            With a release list (in the policy, or by --releases) it also finds what the numbers of real releases \
            contradict. With --against it finds every right that an existing customer would lose from one policy to \
            the next.

            A fix that says what to write was tried on the file: its finding is gone, and no new one comes. Findings \
            that you intend can be listed under `acknowledge` in the policy, by their code and place (`at`). They stay \
            visible and don't fail the check.

            Exit codes: 0 no errors; 2 errors, or with --strict warnings; 1 unreadable; 64 wrong usage.

            Examples:
              tenure policy check policy.yaml
              tenure policy check policy.yaml --releases export.csv --map 'Build Number=build' --map Date=releasedAt
              tenure policy check policy.yaml --against main/policy.yaml --strict --format sarif > policy.sarif
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, sarif
    }

    @Argument(help: "The policy, in YAML or JSON; - for standard input.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "Every release that really was, as CSV, in place of the policy's own list; the policy decides as it is.",
            valueName: "file.csv"))
    var releases: String?

    @Option(
        help: ArgumentHelp(
            "Which column of --releases holds what: platform, version, build, releasedAt or model. Repeatable; then other columns mean nothing, platforms may be written as App Store Connect does, and a price stands for the model.",
            valueName: "column=field"))
    var map: [String] = []

    @Option(help: ArgumentHelp("The policy before this one: what would existing customers lose?", valueName: "file"))
    var against: String?

    @Option(help: "As if on that day (default: now): customers who came later are not asked about.")
    var at: Instant?

    @Option(help: "How to write: \(Format.allCases.map(\.rawValue).joined(separator: ", ")). SARIF is for code hosts.")
    var format: Format?

    @Flag(help: "The same as --format json: `valid`, `passed`, `mistakes` and `findings`, each with its place.")
    var json = false

    @Flag(help: "Warnings fail, too.")
    var strict = false

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other; keep one")
        }
        if releases == nil, !map.isEmpty {
            throw ValidationError("--map says what --releases holds; name that file too")
        }
        if [file, releases, against].count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read once; name the other files")
        }
        _ = try mapping()
    }

    func run() async throws {
        let report = try await reportingErrors { try check() }
        switch json ? .json : format ?? .text {
        case .text: report.writeText(to: .standardOutput)
        case .json: Terminal.standardOutput.write(json: report.json)
        case .sarif: Terminal.standardOutput.write(json: report.sarif)
        }
        if report.fails(strict: strict) { throw ExitCode.refused }
    }

    private func check() throws -> PolicyCheckReport {
        let source = PolicyOnDisk(path: file)
        let draft = PolicyFile.draft(try source.bytes(), named: file, releaseList: source.releaseList)
        var listed: [ListedRelease]?
        var listMistakes: [LintFinding] = []
        if let releases {
            let bytes = try InputFile(path: releases).bytes(limit: ReleaseListFile.maximumSize)
            do {
                listed = try ReleaseListFile.listed(bytes, named: releases, mapping: try mapping())
            } catch let error as PolicyFileError {
                listMistakes = error.mistakes.map { LintFinding($0) }
            }
        }
        let findings = Linter.findings(
            in: draft, releases: listed, isListMapped: !map.isEmpty, against: try oldPolicy(), at: at?.date ?? Date())
        return PolicyCheckReport(
            source: source, releases: releases, findings: findings + listMistakes,
            isCompared: against == nil || draft.policy != nil)
    }

    private func oldPolicy() throws -> Policy? {
        guard let against else { return nil }
        do {
            return try PolicyOnDisk(path: against).read()
        } catch let error as PolicyFileError {
            throw CommandError("the policy to compare with has mistakes itself:\n\(error.description)")
        }
    }

    private func mapping() throws -> ReleaseListFile.Mapping {
        var mapping = ReleaseListFile.Mapping()
        for entry in map {
            let fields = ReleaseListFile.Column.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            guard let equals = entry.lastIndex(of: "="), equals > entry.startIndex,
                let column = ReleaseListFile.Column(header: String(entry[entry.index(after: equals)...]))
            else {
                throw ValidationError("`\(entry)` maps nothing; write `column=field`, the field one of \(fields)")
            }
            mapping[String(entry[..<equals])] = column
        }
        return mapping
    }
}
