import ArgumentParser
import Foundation
import TenureAPI
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint

/// Writes findings in SARIF 2.1.0 (OASIS, 2020), which code hosts read.
extension PolicyCheckReport {
    var sarif: [UInt8] {
        JSONWriter.object(.readable) {
            $0.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
            $0.field("version", "2.1.0")
            $0.field("runs", [self]) { writer, report in report.writeRun(to: &writer) }
        }
    }

    private func writeRun(to writer: inout JSONWriter) {
        writer.object {
            $0.object("tool") {
                $0.object("driver") {
                    $0.field("name", "tenure policy check")
                    $0.field("semanticVersion", Tenure.configuration.version)
                    $0.field("rules", LintRule.all) { writer, rule in Self.write(rule, to: &writer) }
                }
            }
            // Columns are counted in Unicode scalars.
            $0.field("columnKind", "unicodeCodePoints")
            $0.field("results", findings) { writer, finding in write(finding, to: &writer) }
        }
    }

    private static func write(_ rule: LintRule, to writer: inout JSONWriter) {
        func text(_ key: String, _ text: String, _ writer: inout JSONWriter) {
            writer.object(key) {
                $0.field("text", text)
            }
        }
        writer.object {
            $0.field("id", rule.code)
            text("shortDescription", rule.title, &$0)
            text("fullDescription", rule.rationale, &$0)
            text("help", "\(rule.rationale) \(rule.fix)", &$0)
            $0.object("defaultConfiguration") {
                $0.field("level", rule.severity.rawValue)
            }
        }
    }

    private func write(_ finding: LintFinding, to writer: inout JSONWriter) {
        writer.object {
            $0.field("ruleId", finding.code)
            if let index = LintRule.all.firstIndex(where: { $0.code == finding.code }) {
                $0.field("ruleIndex", index)
            }
            // SARIF's levels have the same names as Tenure's.
            $0.field("level", finding.severity.rawValue)
            $0.object("message") {
                $0.field("text", finding.message + (finding.fix.map { ". Fix: \($0)" } ?? ""))
            }
            // If any result has suppressions, SARIF requires the property on each result.
            $0.field("suppressions", [finding.acknowledgment].compactMap { $0 }) { writer, reason in
                writer.object {
                    $0.field("kind", "inSource")
                    $0.field("status", "accepted")
                    $0.field("justification", reason)
                }
            }
            $0.field("locations", [finding.position]) { writer, position in
                writer.object {
                    $0.object("physicalLocation") {
                        $0.object("artifactLocation") {
                            $0.field("uri", Self.uri(path(of: position.file)))
                        }
                        $0.object("region") {
                            $0.field("startLine", position.line)
                            $0.field("startColumn", position.column)
                        }
                    }
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
