import ArgumentParser
import Foundation
import TenureCore
import TenurePolicyFile
import TenurePolicyLint

struct PolicyCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Report the mistakes and the unintended effects of a policy file.",
        discussion: """
            Errors are invalid files, customers who lose what they paid for, and customers who get it without paying. \
            Warnings may lead to such errors; notes are hints. Docs/policy-check.md lists every rule by its code.

            With a release list (in the policy, or by --releases), the command also finds contradictions to your real \
            releases. With --against, it finds every right that existing customers would lose by the change.

            The command has tested each exact fix: it resolves the finding and causes no new one. Other fixes are \
            advice. To accept a finding, list its code and place (`at`) under `acknowledge` in the policy. The check then \
            still shows the finding, but doesn't fail because of it.

            Exit codes: 0 no errors; 2 errors, or with --strict warnings; 1 a file can't be read; 64 wrong usage.

            Examples:
              tenure policy check policy.yaml
              tenure policy check policy.yaml --releases export.csv \\
                  --map 'Build Number=build' --map Date=releasedAt
              tenure policy check policy.yaml --against main/policy.yaml --strict \\
                  --format sarif > policy.sarif
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, sarif
    }

    @Argument(help: "The policy, in YAML or JSON; - for standard input.") var file: String

    @Option(
        help: .value(
            "file.csv",
            "A CSV file with all real releases, to check instead of the policy's own release list. It affects only the check."
        ))
    var releases: String?

    @Option(
        help: .value(
            "column=field",
            "For a list from another system: which field a column of --releases has (platform, version, build, releasedAt or model). Repeatable. With this option, other columns are ignored, App Store Connect's platforms (MAC_OS) are accepted, and `model` may be a price: 0 means free."
        ))
    var map: [String] = []

    @Option(help: .value("file", "The earlier policy, to find what existing customers would lose."))
    var against: String?

    @Option(
        help: """
            Check as of this time instead of now (RFC 3339, or a day, which means 00:00 UTC). With --against, customers \
            who came later are ignored, and so are rights that had ended.
            """,
        transform: Date.init(argument:))
    var at: Date?

    @Option(
        help: "The output format: \(Format.allCases.map(\.rawValue).joined(separator: ", ")). SARIF is for code hosts.")
    var format: Format?

    @Flag(
        help: """
            The same as --format json: `valid` (no mistakes), `passed` (no errors that the policy doesn't acknowledge), \
            and `mistakes` and `findings`, each with its line and column. --strict changes only the exit code.
            """)
    var json = false

    @Flag(help: "Exit with 2 also if there are warnings.") var strict = false

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other; keep one")
        }
        try require(releases != nil || map.isEmpty, "--map describes the columns of --releases; pass that file too")
        try require(
            [file, releases, against].count { $0 == "-" } <= 1,
            "standard input can be read only once; pass the other files by name")
        _ = try mapping()
    }

    func run() async throws {
        let report = try check()
        switch json ? .json : format ?? .text {
        case .text: report.writeText(to: .standardOutput)
        case .json: terminal.write(json: report.json)
        case .sarif: terminal.write(json: report.sarif)
        }
        if report.fails(strict: strict) { throw ExitCode.refused }
    }

    private func check() throws -> PolicyCheckReport {
        let source = PolicyOnDisk(path: file)
        let draft = PolicyFile.draft(try source.bytes(), named: file, releaseList: source.releaseList)
        // If the list of --releases has mistakes, check the policy without it, and report them too.
        var listedReleases: [ListedRelease]?
        var listMistakes: [LintFinding] = []
        if let releases {
            let bytes = try InputFile(path: releases).bytes(limit: ReleaseListFile.maximumSize)
            do {
                listedReleases = try ReleaseListFile.listed(bytes, named: releases, mapping: try mapping())
            } catch let error as PolicyFileError {
                listMistakes = error.mistakes.map { LintFinding($0) }
            }
        }
        let findings = Linter.findings(
            in: draft, releases: listedReleases, isListMapped: !map.isEmpty, against: try oldPolicy(), at: at ?? Date())
        return PolicyCheckReport(
            source: source, releases: releases, findings: findings + listMistakes,
            isCompared: against == nil || draft.policy != nil)
    }

    /// Returns the policy of `--against`; nil without this option.
    private func oldPolicy() throws -> Policy? {
        guard let against else { return nil }
        do {
            return try PolicyOnDisk(path: against).read()
        } catch let error as PolicyFileError {
            throw CommandError("the policy of --against has mistakes; correct them first:\n\(error.description)")
        }
    }

    /// Returns which field each column has, by the values of `--map`, such as `Date=releasedAt`.
    private func mapping() throws -> ReleaseListFile.Mapping {
        var mapping = ReleaseListFile.Mapping()
        for entry in map {
            let fields = ReleaseListFile.Column.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            guard let equals = entry.lastIndex(of: "="), equals > entry.startIndex,
                let column = ReleaseListFile.Column(header: String(entry[entry.index(after: equals)...]))
            else {
                throw ValidationError(
                    "`\(entry)` isn't a mapping; write `column=field` with one of the fields \(fields)")
            }
            mapping[String(entry[..<equals])] = column
        }
        return mapping
    }
}
