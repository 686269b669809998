import TenurePolicyFile

/// All rules, in the order of the documentation.
extension LintRule {
    package static let all: [LintRule] = [
        // About numbers.
        .malformedVersion, .versionForBuild, .buildForVersion, .buildNumbersUnsaid,
        .buildReused, .buildNotAbovePaid, .increasingContradicted,
        .paidBuildUnhonored, .paidBuildBeyondBoundary, .buildNotListed, .soldAcrossChange,
        .boundaryOnNoRelease, .boundaryAtFirstBuild, .boundaryWithoutDate, .boundaryWithoutVersion, .buildNeverUsed,
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
        // All other mistakes that the reader reports.
        .acknowledgmentWithoutFinding, .mistake,
    ]

    static func named(_ code: String) -> LintRule? { all.first { $0.code == code } }
}
