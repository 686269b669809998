package import TenureCore

/// A file of policy cases, which test a policy: customers, and the decisions that the policy should make about them.
///
/// `tenure policy test` and `swift test` run the same files.
package struct PolicyCases: Sendable {
    let cases: [PolicyCase]

    /// Reads cases, and the policy that they test.
    ///
    /// - Parameters:
    ///   - bytes: the cases, YAML or JSON, at most 1 MiB.
    ///   - fileName: the name of the file in mistakes and results.
    ///   - policy: the policy file that the cases test; nil if the file of cases contains the whole policy. Keys under
    ///     `policy` in the file of cases replace the keys of the policy file.
    ///   - releaseList: returns the bytes of the policy's release list (a CSV file), by the path in the policy.
    /// - Throws: all mistakes in both files.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String, policy: (bytes: [UInt8], fileName: String)?,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw PolicyFile.NoReleaseList() }
    ) throws(PolicyFileError) -> PolicyCases {
        var base: DocumentNode?
        if let policy {
            let document = try PolicyFile.document(policy.bytes, named: policy.fileName)
            // Report the mistakes of the policy file once, and not again for each case.
            _ = try PolicyReader.read(document.root, mistakes: document.mistakes, releaseList: releaseList)
            base = document.root
        }
        let document = try PolicyFile.document(
            bytes, named: fileName, as: DocumentKind("cases", beginning: "`cases:`", keys: ["cases"]))
        return try withoutActuallyEscaping(releaseList) { releaseList throws(PolicyFileError) in
            var reader = CaseReader(
                reading: Reading(mistakes: document.mistakes), basePolicy: base, releaseList: releaseList)
            return PolicyCases(cases: try reader.cases(of: document.root))
        }
    }

    /// Makes the decisions of all cases, and returns the results in the order of the file.
    package func run() -> [CaseResult] { cases.map { CaseResult(of: $0) } }
}

/// The result of one case.
package struct CaseResult: Sendable {
    /// The name of the case.
    package let name: String
    /// The position of the case in the file, such as `cases.yaml:12:5`.
    package let position: String
    /// The differences between the expected and the actual decisions, one line each. Empty if the case passes.
    package let differences: [String]
    /// The decision about each entitlement.
    package let decisions: [Decision]

    /// Whether every expectation is met, and other orders of the artifacts lead to the same decisions.
    package var passed: Bool { differences.isEmpty }

    init(of policyCase: PolicyCase) {
        func decisions(on evidence: Evidence) -> [Decision] {
            decide(evidence, promises: policyCase.promises, under: policyCase.policy, at: policyCase.now)
        }
        let decided = decisions(on: policyCase.evidence)
        var differences: [String] = []
        for expectation in policyCase.expectations {
            guard let decision = decided.first(where: { $0.entitlement == expectation.entitlement }) else {
                let known = decided.map(\.entitlement)
                differences.append(
                    "there is no entitlement `\(expectation.entitlement)`; \(Spelling.advice(for: expectation.entitlement, among: known))"
                )
                continue
            }
            differences += expectation.differences(from: decision)
        }
        if policyCase.artifacts.otherOrders.contains(where: { decisions(on: $0.evidence) != decided }) {
            differences.append("the same artifacts in another order lead to other decisions")
        }
        name = policyCase.name
        position = policyCase.position
        self.decisions = decided
        self.differences = differences
    }
}
