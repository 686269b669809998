import TenurePolicyFile

extension LintRule {
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
