import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint
import TenureRehearsal

struct RehearseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Show what a policy would change for every real customer, before you ship it.",
        discussion: """
            The customers come from a service's database or from a file of lines. A line is a JWS, a receipt in Base64, \
            or the JSON of POST /v1/sync, optionally with an `id` from your own system. Tenure verifies each artifact. \
            It counts lines with a rejected artifact, and lists each rejected artifact in a file beside the evidence. A \
            customer with several lines is counted once.

            With --evidence, the lines must contain all purchases of each customer. With --incomplete, purchases may be \
            missing.

            A condition of --fail-if is a measure, then >, >=, < or <=, then a number or percentage. Measures:
            lost, gained, changed          customers with another outcome or end date than with --against.
            granted, denied, undetermined  customers with this outcome.
            changesOutcome                 customers who are denied instead of undetermined, or the reverse.
            changesReason                  customers with the same outcome for another reason.
            contradicting                  customers with a version and a date that prove different eras.
            rejected                       lines with a rejected artifact.
            CODE                           customers with this deciding reason, such as `eraHonored`.
            `everything.denied>0.5%` is about one entitlement, `denied>0.5%` about each.

            A rehearsal without customers fails. So does one in which more than 5% of the lines have a rejected artifact, \
            unless --allow-rejected allows more.

            Exit codes: 0 rehearsed, 2 it failed or a condition of --fail-if holds, 1 error, 64 wrong usage, 130 stopped \
            by Ctrl-C with a report of the results so far.

            Examples:
              tenure rehearse --policy new.yaml --evidence collected.ndjson.gz
              tenure rehearse --policy new.yaml --against old.yaml \\
                  --database var/tenure.sqlite --report report.html --fail-if 'lost>0'
            """)

    @Option(help: .value("file", "The policy to rehearse, in YAML or JSON.")) var policy: String

    @Option(help: .value("file", "The policy to compare with, to show who gains and who loses."))
    var against: String?

    @Option(
        help: .value(
            "file", "A file of lines with signed App Store artifacts, plain or gzip-compressed; - for standard input."))
    var evidence: String?

    @OptionGroup var databaseOption: DatabaseOption

    @Option(help: .value("date", "Decide as of this instant. A day means 00:00 UTC."), transform: Date.init(argument:))
    var at: Date?

    @Flag(
        help: """
            The evidence may lack purchases: an entitlement that a customer might have bought is undetermined, not \
            denied.
            """)
    var incomplete = false

    @Option(help: .value("file", "The file for the report, one page of HTML.")) var report: String?

    @Flag(help: "Write JSON with the same content as the text.") var json = false

    @Option(help: .value("condition", "Fail if this condition is true, such as 'lost>0' or 'denied>0.5%'. Repeatable."))
    var failIf: [String] = []

    @Flag(help: "Show customers' IDs in the report. Without it, customers are numbered.")
    var identify = false

    @Option(
        help: .value(
            "file",
            "The file for the rejected artifacts and lines, one entry each. Default: a new file beside the evidence, with `.rejected.ndjson` appended to its name."
        ))
    var rejected: String?

    @Option(help: .value("percent", "The percentage of lines that may have a rejected artifact, from 0 to 100."))
    var allowRejected = Percentage(value: RehearsalReport.defaultAllowedRejected)

    @OptionGroup var replacing: ReplaceOption

    @OptionGroup var trust: TrustOptions

    func validate() throws {
        let selectsDatabase = databaseOption.database != nil || databaseOption.config != nil
        try require(
            evidence == nil || !selectsDatabase,
            "`--evidence` can't be combined with `--database` or `--config`; keep one source of customers")
        try require(
            evidence != nil || selectsDatabase,
            "no customers are selected; pass `--evidence FILE`, `--database` or `--config`")
        try require(
            !selectsDatabase || (!incomplete && rejected == nil),
            "`--incomplete` and `--rejected` apply only to `--evidence`; remove them")
    }

    func run() async throws {
        let files = try filePlan()
        try files.check(replacing: replacing.force)
        let new = try PolicyOnDisk(path: policy).read()
        let old = try against.map { try PolicyOnDisk(path: $0).read() }
        let comparison = Comparison(of: new, against: old, at: at ?? Date())
        let conditions = try failIf.map { text in try FailCondition(text, of: comparison) }
        let interruption = Interruption()
        let progress = RehearsalProgress(unit: evidence == nil ? "customers" : "lines")
        defer { progress.end() }

        let population = try await population(
            for: comparison, files: files, interruption: interruption, progress: progress)
        // Remove the progress bar before the report.
        progress.end()
        let result = RehearsalReport(
            policyName: policy, oldPolicyName: against, comparison: comparison, input: population.input,
            tally: population.tally, isPartial: population.isPartial, problem: population.problem,
            showsIDs: identify, conditions: conditions, allowedRejected: allowRejected.value,
            findings: try findings(against: old))
        if let report { try OutputFile(path: report, replaces: replacing.force).write(HTMLReport.bytes(of: result)) }
        if json {
            terminal.write(json: result.json())
        } else {
            TextReport(result).write(to: .standardOutput)
        }
        if interruption.isRequested { throw ExitCode(130) }
        if population.problem != nil { throw ExitCode.error }
        if !result.failures.isEmpty { throw ExitCode.refused }
    }

    /// Returns the files that the command reads and writes.
    private func filePlan() throws -> FilePlan {
        var inputs = PolicyOnDisk(path: policy).files
        if let against { inputs += PolicyOnDisk(path: against).files }
        if let evidence {
            inputs.append(evidence)
        } else {
            let selection = try databaseOption.selection()
            inputs += selection.database.files + selection.files
        }
        inputs += trust.paths.flatMap(FilePlan.files)
        return FilePlan(reading: inputs, writing: [report, rejected])
    }

    /// Returns what the policy check finds in the new policy. Empty if the policy came through standard input or a
    /// pipe, which can be read only once.
    private func findings(against old: Policy?) throws -> [LintFinding] {
        let file = PolicyOnDisk(path: policy)
        guard let bytes = file.bytesIfRereadable else { return [] }
        let draft = PolicyFile.draft(bytes, named: policy, releaseList: file.releaseList)
        return Linter.findings(in: draft, against: old, at: at ?? Date())
    }
}

/// A percentage such as `7.5` or `7.5%`.
struct Percentage {
    let value: Double
}

extension Percentage: ExpressibleByArgument {
    init?(argument: String) {
        let number = argument.hasSuffix("%") ? String(argument.dropLast()) : argument
        guard let value = Double(number), (0...100).contains(value) else { return nil }
        self.value = value
    }

    var defaultValueDescription: String { value.percent }
}

extension TextReport {
    fileprivate func write(to terminal: Terminal) {
        for line in lines {
            switch line {
            case .heading(let text): terminal.write(terminal.styled(Terminal.escaped(text), .bold))
            case .plain(let text): terminal.write(Terminal.escaped(text))
            case .good(let text): terminal.write(terminal.styled(Terminal.escaped(text), .green))
            case .bad(let text): terminal.write(terminal.styled(Terminal.escaped(text), .red))
            case .faint(let text): terminal.write(terminal.styled(Terminal.escaped(text), .faint))
            }
        }
    }
}
