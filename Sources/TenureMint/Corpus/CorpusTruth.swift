/// The expected result of a rehearsal (a dry run of a policy) over a corpus: a file of invented customers. The counts
/// follow from the kinds of the lines. The tested code doesn't compute them.
package struct CorpusTruth: Sendable, Hashable {
    /// The expected counts of one entitlement.
    package struct Entitlement: Sendable, Hashable {
        /// The number of customers by outcome.
        package fileprivate(set) var outcomes: [String: Int] = [:]
        /// The number of customers by outcome and reason, such as `granted eraHonored`.
        package fileprivate(set) var reasons: [String: Int] = [:]
        /// The number of customers by what the new policy changes for them, compared with the previous policy: gains,
        /// loses, changesOutcome, changesReason, same.
        package fileprivate(set) var changes: [String: Int] = [:]
    }

    /// The number of all lines.
    package private(set) var lines = 0
    package private(set) var blankLines = 0
    /// The number of lines with a valid artifact.
    package private(set) var usableLines = 0
    /// The number of lines without a valid artifact, by the code of the rejection.
    package private(set) var rejectedLines: [String: Int] = [:]
    /// The number of rejected artifacts in usable lines, by the code of the rejection.
    package private(set) var rejectedArtifacts: [String: Int] = [:]
    /// The number of different customers in the usable lines.
    package private(set) var customers = 0
    /// The number of customers who lose an entitlement by the change from the previous policy.
    package private(set) var losing = 0
    /// The number of customers who gain an entitlement by the change from the previous policy.
    package private(set) var gaining = 0
    /// The expected counts of the entitlement `everything`.
    package private(set) var everything = Entitlement()
    /// The expected counts of the entitlement `cloud`.
    package private(set) var cloud = Entitlement()
    /// The number of lines of each kind, by the raw value of `CorpusKind`.
    package private(set) var kinds: [String: Int] = [:]

    package init() {}

    /// Counts a line.
    ///
    /// - Parameters:
    ///   - isCustomer: whether the line is the first line of a customer.
    ///   - customer: the kind with the expected result: `kind`, or `refundedApp` for a `boughtAgain` without its
    ///     second line.
    mutating func add(_ kind: CorpusKind, isCustomer: Bool, as customer: CorpusKind) {
        lines += 1
        kinds[kind.rawValue, default: 0] += 1
        if kind == .emptyLine {
            blankLines += 1
        } else if let code = kind.rejection {
            rejectedLines[code, default: 0] += 1
        } else {
            usableLines += 1
            if kind == .partlyBad { rejectedArtifacts["badSignature", default: 0] += 1 }
        }
        guard isCustomer, let expected = customer.expectation else { return }
        customers += 1
        let changes = [Self.count(expected.everything, in: &everything), Self.count(expected.cloud, in: &cloud)]
        if changes.contains("loses") { losing += 1 }
        if changes.contains("gains") { gaining += 1 }
    }

    /// Counts a customer's expected answers on one entitlement, and returns the change.
    private static func count(_ expected: CorpusKind.Answers, in entitlement: inout Entitlement) -> String {
        let (now, before) = expected
        entitlement.outcomes[now.outcome.rawValue, default: 0] += 1
        entitlement.reasons["\(now.outcome.rawValue) \(now.reason)", default: 0] += 1
        let change =
            switch (before.outcome == .granted, now.outcome == .granted) {
            case (false, true): "gains"
            case (true, false): "loses"
            case _ where before == now: "same"
            default: before.outcome == now.outcome ? "changesReason" : "changesOutcome"
            }
        entitlement.changes[change, default: 0] += 1
        return change
    }

    /// Adds the expected result of other lines.
    package mutating func add(_ other: CorpusTruth) {
        let numbers: [WritableKeyPath<CorpusTruth, Int>] = [
            \.lines, \.blankLines, \.usableLines, \.customers, \.losing, \.gaining,
        ]
        for number in numbers { self[keyPath: number] += other[keyPath: number] }
        let counts: [WritableKeyPath<CorpusTruth, [String: Int]>] = [
            \.rejectedLines, \.rejectedArtifacts, \.kinds, \.everything.outcomes, \.everything.reasons,
            \.everything.changes, \.cloud.outcomes, \.cloud.reasons, \.cloud.changes,
        ]
        for count in counts { self[keyPath: count].merge(other[keyPath: count], uniquingKeysWith: +) }
    }
}
