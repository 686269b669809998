import TenurePolicyFile

/// What the reader of a file finds by itself. These keep a file from being a policy, and carry a code of a rule all the
/// same, so that whoever reads the findings reads one kind of thing.
extension LintRule {
    static let mistake = LintRule(
        "mistake", .error, "something that keeps the file from being a policy",
        story: "A file of which a part is guessed at decides about customers by that guess.",
        fix: "Do what the message says; Docs/policy-file.md has every key.")

    /// An acknowledgment that outlived its finding would hide the next one at its place.
    static let acknowledgmentWithoutFinding = LintRule(
        "acknowledgment-without-finding", .error, "an acknowledgment of a finding that does not exist",
        story:
            "A list of exceptions that nobody cleans up grows until it hides the finding that matters.",
        fix: "Remove it, or correct its `at`; mistakes cannot be acknowledged.")

    /// A tutorial's comparison of `"2"` with `"13"` as texts locked out everybody who had bought one of the first
    /// versions, after it had worked in the simulator and in TestFlight. Numbers are compared as numbers here, and what
    /// is no number cannot be compared at all: it would be a boundary on which nobody stands.
    static let malformedVersion = LintRule(
        "malformed-version", .error, "a build or version that only a comparison of texts could order, such as `2.0b`",
        story:
            "Versions compared as texts put 13 before 2: an app that did so locked its owners out on the day of the change.",
        fix: "Write numbers separated by periods, as the App Store reports them.")

    /// Apps were free, then sold, then free again, and their owners kept one date and one comparison. A list of eras says
    /// it all, as long as it runs one way.
    static let erasBackwards = LintRule(
        "eras-backwards", .error, "an era that begins before the one that it follows",
        story:
            "An app that was free, then sold, then free again has three eras; one date, or a wrong order, misjudges one.",
        fix: "Write the eras oldest first, and check instants and builds.")

    /// A build is the only number that iOS reports, and some tools begin it again with each version: a guess in either
    /// direction unlocks everybody or nobody.
    static let buildNumbersUnsaid = LintRule(
        "build-numbers-unsaid", .error, "an iOS-like platform without a release list and without `buildNumbers`",
        story:
            "Build numbers may begin again with each version. Where they did, a boundary by build gives the app away or takes it.",
        fix: "Write `buildNumbers: increasing` or `restarted`, or add a release list.")
}
