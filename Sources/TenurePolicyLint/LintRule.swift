/// A rule of the linter, with its documentation and its check. The files in `Rules` define the rules.
package struct LintRule: Sendable {
    /// The input that a rule needs in addition to the policy. Without this input, the rule finds nothing.
    enum Need: Sendable {
        case nothing
        /// A release list: the policy's own list, or the list of the option `--releases`.
        case releases
        /// The previous policy.
        case oldPolicy
        /// The release list of the option `--releases`. The policy's own list can't replace it.
        case releasesOption
    }

    /// The code by which an acknowledgment names the rule, in lower case with hyphens. It never changes.
    package let code: String
    /// The highest severity that the rule reports.
    package let severity: LintFinding.Severity
    /// What the rule finds, in a few words.
    package let title: String
    /// Why the rule exists: what happened to developers who made this mistake.
    package let rationale: String
    /// What to do about any finding of the rule. A finding may have a more exact fix.
    package let fix: String
    /// The input that the check needs in addition to the policy.
    let needs: Need
    /// Adds the rule's findings to the report. Nil if the reader of the policy file or `Linter` itself reports them, as
    /// mistakes.
    let check: (@Sendable (LintSubject, inout LintReport) -> Void)?

    init(
        _ code: String, _ severity: LintFinding.Severity, _ title: String, rationale: String, fix: String,
        needs: Need = .nothing, check: (@Sendable (LintSubject, inout LintReport) -> Void)? = nil
    ) {
        self.code = code
        self.severity = severity
        self.title = title
        self.rationale = rationale
        self.fix = fix
        self.needs = needs
        self.check = check
    }

    /// All rules, in the order of Docs/policy-check.md.
    package static let all: [LintRule] = [
        // About numbers.
        .malformedVersion, .versionForBuild, .buildForVersion, .buildNumbersUnsaid,
        .buildReused, .buildNotAbovePaid, .increasingContradicted,
        .paidBuildUnhonored, .paidBuildBeyondBoundary, .buildNotListed, .soldAcrossChange,
        .boundaryOnNoRelease, .boundaryOutOfOrder, .boundaryAtFirstBuild, .boundaryWithoutDate, .boundaryWithoutVersion,
        .buildNeverUsed,
        // Eras and platforms.
        .erasBackwards, .eraNeverApplies, .erasOverlap, .eraWithoutRelease, .modelContradicted,
        .platformForgotten, .inheritsFromIOS, .noChangeover, .changeoverWithoutDate, .changeoverWide,
        // Entitlements.
        .entitlementWithoutSource, .honoredEraFree, .paidEraUnhonored, .honorWithoutEnd, .honorWindowOutsideEra,
        .productGivesNothing, .trialForEverybody,
        // Settings.
        .testersAreOwners, .undeterminedDenies, .allowTooShort, .noAppleID,
        // Compared with the previous policy.
        .rightLost, .rightShortened, .rightUncertain, .trialShortened, .settingsEdited, .appChanged,
        // All other mistakes that are found while the file is read.
        .acknowledgmentWithoutFinding, .mistake,
    ]

    /// Returns the rule with this code; nil if no rule has it.
    static func named(_ code: String) -> LintRule? { all.first { $0.code == code } }
}
