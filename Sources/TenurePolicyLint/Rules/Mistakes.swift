import TenurePolicyFile

/// Mistakes that the reader of a file finds. They keep a file from being a policy, and carry a rule's code, so that all
/// findings have one form.
extension LintRule {
    static let mistake = LintRule(
        "mistake", .error, "something that keeps the file from being a policy",
        story: "If a part of the file were guessed, customers would be decided by that guess.",
        fix: "Do what the message says; Docs/policy-file.md has every key.")

    /// An acknowledgment that outlived its finding would hide the next one at its place.
    static let acknowledgmentWithoutFinding = LintRule(
        "acknowledgment-without-finding", .error, "an acknowledgment of a finding that does not exist",
        story:
            "A list of exceptions that is never cleaned up grows until it hides the finding that matters.",
        fix: "Remove it, or correct its `at`; mistakes cannot be acknowledged.")

    /// A tutorial compared `"2"` with `"13"` as texts and locked out everyone who had bought one of the first versions.
    /// It had worked in the simulator and in TestFlight. Here, numbers are compared as numbers, and a text that isn't a
    /// number can't be a boundary.
    static let malformedVersion = LintRule(
        "malformed-version", .error, "a build or version that only a comparison of texts could order, such as `2.0b`",
        story:
            "Versions compared as texts put 13 before 2: an app that did so locked its owners out on the day of the change.",
        fix: "Write numbers separated by periods, as the App Store reports them.")

    /// Apps were free, then sold, then free again, and their developers kept one date and one comparison. A list of
    /// eras describes this, as long as it runs in one direction.
    static let erasBackwards = LintRule(
        "eras-backwards", .error, "an era that begins before the one that it follows",
        story:
            "An app that was free, then sold, then free again has three eras; one date, or a wrong order, misjudges one.",
        fix: "Write the eras oldest first, and check instants and builds.")

    /// A build is the only number that iOS reports, and some tools restart it with each version. A wrong guess unlocks
    /// every customer or none.
    static let buildNumbersUnsaid = LintRule(
        "build-numbers-unsaid", .error, "an iOS-like platform without a release list and without `buildNumbers`",
        story:
            "Build numbers may begin again with each version. Where they did, a boundary by build gives the app away or takes it.",
        fix: "Write `buildNumbers: increasing` or `restarted`, or add a release list.")
}
