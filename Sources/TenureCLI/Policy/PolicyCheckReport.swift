import ArgumentParser
import Foundation
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint

/// The findings of `tenure policy check`, and how the command prints them.
struct PolicyCheckReport {
    /// The checked policy.
    let source: PolicyOnDisk
    /// The path of the release list from `--releases`; nil without this option.
    let releases: String?
    /// The findings of the rules, and the mistakes (`isMistake`) that make the policy or the release list invalid.
    let findings: [LintFinding]
    /// False if `--against` was given but the file's mistakes prevented the comparison.
    let isCompared: Bool

    /// Whether the policy and the release list are valid: no finding is a mistake.
    var isValid: Bool { !findings.contains(where: \.isMistake) }

    /// Whether the check fails: because of an error or, if `strict`, a warning that the policy doesn't acknowledge
    /// (mark as intended).
    func fails(strict: Bool) -> Bool { !findings.unacknowledged(strict ? .warning : .error).isEmpty }

    /// Returns the path of a file that a finding names. The policy's own release list is named relative to the policy's
    /// folder, and the list of `--releases` by its path.
    func path(of file: String) -> String { file == releases ? file : source.path(of: file) }

    /// The number of findings of a severity that the policy doesn't acknowledge.
    func count(of severity: LintFinding.Severity) -> Int {
        findings.count { $0.severity == severity && !$0.isAcknowledged }
    }

    // MARK: Text

    func writeText(to terminal: Terminal) {
        var excerpts = SourceExcerpts()
        for finding in findings {
            let position = finding.position
            let severity = terminal.styled(
                finding.severityInWords, finding.isAcknowledged ? .faint : finding.severity.style)
            let location = "\(Terminal.escaped(path(of: position.file))):\(position.line):\(position.column)"
            let code = terminal.styled("[\(finding.code)]", .faint)
            let message = Terminal.escaped(finding.message)
            terminal.write("\(terminal.styled(location, .bold)): \(severity): \(message) \(code)")
            if finding.showsExcerpt { excerpts.show(path(of: position.file), at: position, on: terminal) }
            if let reason = finding.acknowledgment {
                terminal.write("  acknowledged: \(Terminal.escaped(reason))")
                continue
            }
            if let fix = finding.fix { terminal.write("  fix: \(Terminal.escaped(fix))") }
            if !finding.isMistake {
                terminal.write(terminal.styled("  at: \(Terminal.escaped(finding.place))", .faint))
            }
        }
        if !isCompared { terminal.write("not compared with the earlier policy: correct the mistakes first") }
        terminal.write("\(InputFile(path: source.path).name): \(summary)")
    }

    /// The number of findings of each severity. Begins with `no mistakes` if there are no errors.
    private var summary: String {
        let counts = LintFinding.Severity.allCases.filter { count(of: $0) > 0 }
            .map { counted(count(of: $0), $0.rawValue) }
        let acknowledged = findings.count(where: \.isAcknowledged)
        let words = (count(of: .error) > 0 ? [] : ["no mistakes"]) + counts
        return (words + (acknowledged > 0 ? ["\(acknowledged) acknowledged"] : [])).joined(separator: ", ")
    }

    // MARK: JSON

    var json: [UInt8] {
        JSONWriter.object {
            $0.field("valid", isValid)
            $0.field("passed", !fails(strict: false))
            $0.objects("mistakes", findings.filter(\.isMistake)) { writer, finding in
                Self.write(finding.position, to: &writer)
                writer.field("message", finding.message)
                writer.field("code", finding.code)
            }
            $0.objects("findings", findings) { writer, finding in
                writer.field("code", finding.code)
                writer.field("severity", finding.severity.rawValue)
                Self.write(finding.position, to: &writer)
                writer.field("message", finding.message)
                writer.field("fix", orNull: finding.fix)
                writer.field("at", orNull: finding.isMistake ? nil : finding.place)
                writer.field("acknowledged", orNull: finding.acknowledgment)
            }
        }
    }

    private static func write(_ position: SourcePosition, to writer: inout JSONWriter) {
        writer.field("file", position.file)
        writer.field("line", position.line)
        writer.field("column", position.column)
    }
}

extension LintFinding.Severity {
    fileprivate var style: Terminal.Style {
        switch self {
        case .error: .red
        case .warning: .yellow
        case .note: .faint
        }
    }
}

/// The findings in SARIF 2.1.0 (OASIS, 2020), a JSON format that code hosts read.
extension PolicyCheckReport {
    var sarif: [UInt8] {
        JSONWriter.object(.readable) {
            $0.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
            $0.field("version", "2.1.0")
            // SARIF has a list of runs. This is the only one.
            $0.objects("runs", [self]) { run, report in
                run.object("tool") {
                    $0.object("driver") {
                        $0.field("name", "tenure policy check")
                        $0.field("semanticVersion", Tenure.configuration.version)
                        $0.objects("rules", LintRule.all) { writer, rule in Self.write(rule, to: &writer) }
                    }
                }
                // Columns are counted in Unicode scalars.
                run.field("columnKind", "unicodeCodePoints")
                run.objects("results", report.findings) { writer, finding in report.write(finding, to: &writer) }
            }
        }
    }

    private static func write(_ rule: LintRule, to writer: inout JSONWriter) {
        writer.field("id", rule.code)
        for (key, text) in [
            ("shortDescription", rule.title), ("fullDescription", rule.rationale),
            ("help", "\(rule.rationale) \(rule.fix)"),
        ] {
            writer.object(key) { $0.field("text", text) }
        }
        writer.object("defaultConfiguration") { $0.field("level", rule.severity.rawValue) }
    }

    private func write(_ finding: LintFinding, to writer: inout JSONWriter) {
        writer.field("ruleId", finding.code)
        if let index = LintRule.all.firstIndex(where: { $0.code == finding.code }) {
            writer.field("ruleIndex", index)
        }
        // SARIF's levels have the same names as Tenure's.
        writer.field("level", finding.severity.rawValue)
        writer.object("message") { $0.field("text", finding.message + (finding.fix.map { ". Fix: \($0)" } ?? "")) }
        // SARIF requires the list on each result if any result has it, so the list may be empty.
        writer.objects("suppressions", [finding.acknowledgment].compactMap(\.self)) { writer, reason in
            writer.field("kind", "inSource")
            writer.field("status", "accepted")
            writer.field("justification", reason)
        }
        writer.objects("locations", [finding.position]) { writer, position in
            writer.object("physicalLocation") {
                $0.object("artifactLocation") { $0.field("uri", Self.uri(path(of: position.file))) }
                $0.object("region") {
                    $0.field("startLine", position.line)
                    $0.field("startColumn", position.column)
                }
            }
        }
    }

    /// Returns a path as a URI. A relative path becomes a relative reference, which code hosts resolve from the root of
    /// the repository. An absolute path becomes `file:///…` (RFC 8089).
    static func uri(_ path: String) -> String {
        var allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
        allowed.insert(charactersIn: "-._~/")
        var relative = path[...]
        while relative.hasPrefix("./") { relative = relative.dropFirst(2) }
        let encoded = String(relative).addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return path.hasPrefix("/") ? "file://" + encoded : encoded
    }
}
