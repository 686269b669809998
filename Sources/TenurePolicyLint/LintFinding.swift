package import TenurePolicyFile

/// One problem that the linter reports about a policy file or its release list.
package struct LintFinding: Sendable, Hashable, CustomStringConvertible {
    /// How serious a finding is.
    package enum Severity: String, Sendable, Hashable, CaseIterable, Comparable {
        /// Customers lose what they paid for, other customers get it for nothing, or the file isn't a valid policy.
        case error
        /// A possible error, depending on facts that aren't in the file.
        case warning
        /// A fact that the developer should know.
        case note

        /// A more severe finding has the greater severity.
        package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .error: 2
            case .warning: 1
            case .note: 0
            }
        }
    }

    /// The stable code of the rule. Docs/policy-check.md lists all codes.
    package let code: String
    package let severity: Severity
    /// What the finding is about, such as `eras/freemium/begins/iOS`. An acknowledgment in the policy names a finding
    /// by its code and this place, so the place doesn't change with the position in the file. Empty for mistakes, which
    /// can't be acknowledged.
    package let place: String
    /// The position in the policy file or in its release list.
    package let position: SourcePosition
    /// The consequence for customers, with the names, builds and dates of this policy.
    package let message: String
    /// What to do about the finding; nil if `message` says it.
    package internal(set) var fix: String?
    /// The edits that `fix` describes. With the edits, the finding disappears and no new finding appears. Empty if
    /// `fix` is advice.
    var edits: [PolicyEdit] = []
    /// The reason in the policy's acknowledgment; nil if the policy doesn't acknowledge the finding.
    package internal(set) var acknowledgment: String?
    /// Whether the finding is a mistake, which makes the policy file invalid. A mistake can't be acknowledged.
    package let isMistake: Bool
    /// Whether a command may show the line of the file. False if the user may have passed another file by mistake, such
    /// as one with a private key.
    package var showsExcerpt = true

    package var isAcknowledged: Bool { acknowledgment != nil }

    /// The severity, with `acknowledged` if the policy acknowledges the finding.
    package var severityInWords: String { isAcknowledged ? "\(severity.rawValue), acknowledged" : severity.rawValue }

    /// The finding with its position, such as `policy.yaml:12:7: warning: message [code]`. An acknowledged finding has
    /// `warning, acknowledged` instead of `warning`.
    package var description: String { "\(position): \(severityInWords): \(message) [\(code)]" }
}

extension LintFinding {
    /// Creates the finding for a mistake that was found while the file was read.
    package init(_ mistake: PolicyFileMistake) {
        self.init(
            code: mistake.code, severity: .error, place: "", position: mistake.position, message: mistake.message,
            isMistake: true, showsExcerpt: mistake.showsExcerpt)
    }
}

extension Sequence<LintFinding> {
    /// The errors that the policy doesn't acknowledge. Such errors stop a publication and fail a check.
    package var unacknowledgedErrors: [LintFinding] { unacknowledged(.error) }

    /// The findings of at least this severity that the policy doesn't acknowledge.
    package func unacknowledged(_ severity: LintFinding.Severity) -> [LintFinding] {
        filter { $0.severity >= severity && !$0.isAcknowledged }
    }
}
