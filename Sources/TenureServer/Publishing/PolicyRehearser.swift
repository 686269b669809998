import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint
import TenureRehearsal
import TenureStore

/// Evaluates what a policy would change for each customer in production.
///
/// The rehearser reads customers page by page while the service keeps running. Before a publication, `catchUp`
/// evaluates again the customers who changed in the meantime.
struct PolicyRehearser: Sendable {
    let store: Store
    let policies: ActivePolicy

    /// The result of evaluating all customers.
    struct Findings: Sendable {
        /// The counts and examples for the report.
        let tally: Tally
        /// Which customers gain or lose something and which promises end, for a publication.
        let evaluation: PublicationEvaluation

        /// The number of customers who lose something, if promises are kept or if they end.
        func losing(keepingPromises: Bool) -> Int { keepingPromises ? tally.losingWithPromises : tally.losing }
    }

    private static let pageSize = 500

    /// Evaluates what the new policy changes for each customer.
    ///
    /// - Parameters:
    ///   - evaluator: Compares the new policy with the policy in effect, for one customer at a time.
    ///   - restoringAfter: The number of the publication to which a rollback returns; nil if this isn't a rollback. A
    ///     rollback also restores the promises that later publications ended.
    ///   - keepingPromises: Whether customers keep the entitlements that they were promised, even if the new policy
    ///     denies them.
    func rehearse(
        by evaluator: PublicationEvaluator, restoringAfter: Int64?, keepingPromises: Bool
    ) async throws -> Findings {
        var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
        let restored = try await store.read { try $0.restorablePromises(after: restoringAfter) }
        var tally = Tally(for: evaluator.comparison)
        var page = try await store.read({ try $0.customersToEvaluate(after: 0, limit: Self.pageSize) })
        while let last = page.last {
            // Reads the next page while this one is evaluated.
            async let next = store.read { try $0.customersToEvaluate(after: last.customer.id, limit: Self.pageSize) }
            for row in page {
                let subject = CustomerToEvaluate(
                    customer: row.customer, isUnbound: row.isUnbound, restored: restored[row.customer.id] ?? [])
                let result = try evaluator.result(for: subject)
                evaluation.add(subject, evaluator.impact(on: subject, result, keepingPromises: keepingPromises))
                if subject.isUnbound { continue }
                tally.add(RehearsedCustomer(id: row.customer.publicID, row.customer.evidence), result)
            }
            page = try await next
        }
        return Findings(tally: tally, evaluation: evaluation)
    }

    /// Evaluates the customers who changed since `evaluation`, in several rounds, until few changed customers are left.
    ///
    /// Usually each round takes less time than the previous round, so fewer customers change meanwhile.
    func catchUp(
        _ evaluation: PublicationEvaluation, by evaluator: PublicationEvaluator, restoringAfter: Int64?,
        keepingPromises: Bool
    ) async throws -> PublicationEvaluation {
        var evaluation = evaluation
        for _ in 0..<Self.maximumRounds {
            let position = evaluation.position
            let changes = try await store.write { try $0.changes(since: position) }
            evaluation.removeImpacts(of: changes)
            for ids in changes.customers.chunks(of: Self.pageSize) {
                let customers = try await store.read { transaction -> [CustomerToEvaluate] in
                    try ids.compactMap { try transaction.customerToEvaluate($0, restoringAfter: restoringAfter) }
                }
                for subject in customers {
                    let result = try evaluator.result(for: subject)
                    evaluation.update(subject, evaluator.impact(on: subject, result, keepingPromises: keepingPromises))
                }
            }
            if changes.customers.count <= Self.maximumInPublication / 2 { break }
        }
        return evaluation
    }

    private static let maximumRounds = 20
    /// How many changed customers a publication evaluates while no other transaction writes: less than a second.
    static let maximumInPublication = 200
}

/// Evaluates what a new policy changes for one customer, both if the customer's promises are kept and if they end. A
/// promise is a right that an earlier version of the policy gave, stored for the customer.
struct PublicationEvaluator: Sendable {
    /// Compares the new policy with the policy that it replaces.
    let comparison: Comparison
    let policies: ActivePolicy

    /// Compares the customer's decisions under both policies. Throws if a promise refers to a version of the policy
    /// that this process hasn't read yet.
    func result(for subject: CustomerToEvaluate) throws(Problem) -> CustomerEffects {
        comparison.customerEffects(
            on: subject.customer.evidence, promises: try policies.promises(subject.customer.facts.promises),
            restored: try policies.promises(subject.restored))
    }

    /// Returns whether the customer gains or loses something, and which of their promises a publication ends. An
    /// unbound customer (artifacts without proof that they belong to their sender) isn't counted as gaining or losing
    /// anything.
    func impact(
        on subject: CustomerToEvaluate, _ customerEffects: CustomerEffects, keepingPromises: Bool
    ) -> PublicationImpact {
        let effects = keepingPromises ? customerEffects.ifPromisesAreKept : customerEffects.ifPromisesEnd
        let lost = effects.filter { $0.change == .loses }.map(\.entitlement)
        var impact = PublicationImpact()
        if !subject.isUnbound {
            impact.gains = effects.contains { $0.change == .gains }
            impact.loses = !lost.isEmpty
        }
        if !keepingPromises {
            impact.ending = Set(subject.customer.facts.promises.map(\.entitlement)).intersection(lost)
        }
        return impact
    }
}

/// The report of a rehearsal, made from the rehearsal's findings.
extension RehearsalAnswer {
    /// The maximum number of examples for each kind of change in a report. The rehearsal may have collected more.
    private static let maximumExamples = 10

    /// Creates the report of a rehearsal.
    ///
    /// - Parameters:
    ///   - linted: The linter's findings in the policy.
    ///   - version: The version of the policy with which the new policy was compared.
    init(
        _ findings: PolicyRehearser.Findings, linted: [LintFinding], id: String, against version: Int64, at now: Date
    ) {
        let tally = findings.tally
        let promised = tally.promisedOnly.sorted { $0.key < $1.key }
        // The entitlements of the policies come first, then the entitlements that only a promise still gives.
        let all = Array(zip(tally.entitlements, tally.byEntitlement)) + promised.map { ($0.key, $0.value) }
        self.init(
            id: id, at: now.rfc3339, against: version, customers: tally.customers, gaining: tally.gaining,
            losing: tally.losing, losingWithPromises: tally.losingWithPromises, contradicting: tally.contradicting,
            productsWithoutEntitlement: tally.productsWithoutEntitlement.sorted { $0.key < $1.key }
                .map { Product(id: $0.key, customers: $0.value) },
            entitlements: all.map { name, tally in
                Entitlement(
                    name: name, granted: tally.counts.granted, denied: tally.counts.denied,
                    undetermined: tally.counts.undetermined, gains: tally.counts.gains, loses: tally.counts.loses,
                    gainers: Self.examples(of: .gains, in: tally), losers: Self.examples(of: .loses, in: tally))
            },
            findings: linted.map {
                Finding(
                    code: $0.code, severity: $0.severity.rawValue, message: $0.message, fix: $0.fix, at: $0.place,
                    line: $0.position.line, column: $0.position.column, blocks: $0.blocksPublication)
            })
    }

    private static func examples(of change: Change, in tally: EntitlementTally) -> [Example] {
        (tally.examples[.change(change)]?.all ?? []).prefix(maximumExamples).map { example in
            Example(
                customer: example.id, platform: example.platform?.rawValue,
                originalAppVersion: example.originalAppVersion,
                originalPurchaseDate: example.originalPurchaseDate?.rfc3339,
                before: Answer(example.before ?? example.now), now: Answer(example.now))
        }
    }

    /// The report as JSON with sorted keys, so that equal reports have equal bytes.
    var encoded: [UInt8] {
        get throws { [UInt8](try JSONEncoder.sorted.encode(self)) }
    }
}

extension RehearsalAnswer.Answer {
    fileprivate init(_ answer: TenureRehearsal.Answer) {
        self.init(outcome: answer.outcome.rawValue, reason: answer.reasonName, until: answer.until?.rfc3339)
    }
}
