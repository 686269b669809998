import ArgumentParser
import Foundation
import TenureAPI
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint

/// Findings as code hosts read them: SARIF 2.1.0 (OASIS, 2020).
extension PolicyCheckReport {
    var sarif: [UInt8] {
        var writer = JSONWriter(.readable)
        writer.object {
            $0.key("$schema")
            $0.value("https://json.schemastore.org/sarif-2.1.0.json")
            $0.key("version")
            $0.value("2.1.0")
            $0.key("runs")
            $0.array([self]) { writer, report in report.writeRun(to: &writer) }
        }
        return writer.bytes
    }

    private func writeRun(to writer: inout JSONWriter) {
        writer.object {
            $0.key("tool")
            $0.object {
                $0.key("driver")
                $0.object {
                    $0.key("name")
                    $0.value("tenure policy check")
                    $0.key("semanticVersion")
                    $0.value(Tenure.configuration.version)
                    $0.key("rules")
                    $0.array(LintRule.all) { writer, rule in Self.write(rule, to: &writer) }
                }
            }
            // Tenure counts columns in Unicode scalars.
            $0.key("columnKind")
            $0.value("unicodeCodePoints")
            $0.key("results")
            $0.array(findings) { writer, finding in write(finding, to: &writer) }
        }
    }

    private static func write(_ rule: LintRule, to writer: inout JSONWriter) {
        func text(_ key: String, _ text: String, _ writer: inout JSONWriter) {
            writer.key(key)
            writer.object {
                $0.key("text")
                $0.value(text)
            }
        }
        writer.object {
            $0.key("id")
            $0.value(rule.code)
            text("shortDescription", rule.title, &$0)
            text("fullDescription", rule.story, &$0)
            text("help", "\(rule.story) \(rule.fix)", &$0)
            $0.key("defaultConfiguration")
            $0.object {
                $0.key("level")
                $0.value(rule.severity.rawValue)
            }
        }
    }

    private func write(_ finding: LintFinding, to writer: inout JSONWriter) {
        writer.object {
            $0.key("ruleId")
            $0.value(finding.code)
            if let index = LintRule.all.firstIndex(where: { $0.code == finding.code }) {
                $0.key("ruleIndex")
                $0.value(index)
            }
            // SARIF's levels have the same names as Tenure's.
            $0.key("level")
            $0.value(finding.severity.rawValue)
            $0.key("message")
            $0.object {
                $0.key("text")
                $0.value(finding.message + (finding.fix.map { ". Fix: \($0)" } ?? ""))
            }
            // If any result has suppressions, SARIF requires the property on each result.
            $0.key("suppressions")
            $0.array([finding.acknowledgment].compactMap { $0 }) { writer, reason in
                writer.object {
                    $0.key("kind")
                    $0.value("inSource")
                    $0.key("status")
                    $0.value("accepted")
                    $0.key("justification")
                    $0.value(reason)
                }
            }
            $0.key("locations")
            $0.array([finding.position]) { writer, position in
                writer.object {
                    $0.key("physicalLocation")
                    $0.object {
                        $0.key("artifactLocation")
                        $0.object {
                            $0.key("uri")
                            $0.value(Self.uri(path(of: position.file)))
                        }
                        $0.key("region")
                        $0.object {
                            $0.key("startLine")
                            $0.value(position.line)
                            $0.key("startColumn")
                            $0.value(position.column)
                        }
                    }
                }
            }
        }
    }

    /// A relative path as a relative reference, which code hosts take from the root of the repository; an absolute one as
    /// `file:///…` (RFC 8089).
    static func uri(_ path: String) -> String {
        var allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
        allowed.insert(charactersIn: "-._~/")
        var relative = path[...]
        while relative.hasPrefix("./") { relative = relative.dropFirst(2) }
        let encoded = String(relative).addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return path.hasPrefix("/") ? "file://" + encoded : encoded
    }
}
