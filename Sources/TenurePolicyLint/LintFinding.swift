package import TenurePolicyFile

/// One thing that the linter has to say of a policy file or its release list.
package struct LintFinding: Sendable, Hashable, CustomStringConvertible {
    package enum Severity: String, Sendable, Hashable, CaseIterable, Comparable {
        /// Customers lose what they paid for, others get it for nothing, or the file is no policy.
        case error
        /// That may happen, depending on what the file does not say.
        case warning
        /// Worth knowing.
        case note

        /// The graver one is the greater.
        package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .error: 2
            case .warning: 1
            case .note: 0
            }
        }
    }

    /// Stable; Docs/policy-check.md has them all.
    package let code: String
    package let severity: Severity
    /// In the policy file, or in its release list.
    package let position: SourcePosition
    /// The consequence in plain words, with the numbers of this policy.
    package let message: String
    /// What to write instead; nil where the message says it.
    package let fix: String?
    /// Whether it keeps the file from being a policy.
    package let isMistake: Bool

    /// `policy.yaml:12:7: warning: message [code]`
    package var description: String {
        "\(position.file):\(position.line):\(position.column): \(severity.rawValue): \(message) [\(code)]"
    }
}

extension LintFinding {
    /// What the reader of a file found, as a finding.
    package init(_ mistake: PolicyFileMistake) {
        self.init(
            code: mistake.code, severity: .error,
            position: SourcePosition(file: mistake.file, line: mistake.line, column: mistake.column),
            message: mistake.message, fix: nil, isMistake: true)
    }
}
