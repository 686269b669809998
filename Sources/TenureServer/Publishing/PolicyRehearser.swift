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
    /// Compares the new policy with the policy in effect, for one customer at a time.
    let comparison: Comparison
    /// The number of the publication to which a rollback returns; nil if this isn't a rollback. A rollback also
    /// restores the promises that later publications ended.
    let restoringAfter: Int64?
    /// Whether customers keep the entitlements that they were promised, even if the new policy denies them. A promise
    /// is a right that an earlier version of the policy gave, stored for the customer.
    let keepsPromises: Bool

    private static let pageSize = 500

    /// Evaluates what the new policy changes for each customer. Returns the counts and examples for the report, and
    /// what a publication needs: which customers gain or lose something, and which promises end.
    func rehearse() async throws -> (tally: Tally, evaluation: PublicationEvaluation) {
        // Reading the database's position locks out other writers for a moment, so it needs a transaction that writes.
        var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
        let restored = try await store.read { try $0.restorablePromises(after: restoringAfter) }
        var tally = Tally(for: comparison)
        var page = try await store.read({ try $0.customersToEvaluate(after: 0, limit: Self.pageSize) })
        while let last = page.last {
            // Reads the next page while this one is evaluated.
            async let next = store.read { try $0.customersToEvaluate(after: last.customer.id, limit: Self.pageSize) }
            for row in page {
                let subject = CustomerToEvaluate(
                    customer: row.customer, isUnbound: row.isUnbound, restored: restored[row.customer.id] ?? [])
                let (effects, impact) = try evaluate(subject)
                evaluation.add(subject, impact)
                // Unbound customers (see `evaluate`) aren't counted in the report.
                if subject.isUnbound { continue }
                tally.add(RehearsedCustomer(id: row.customer.publicID, row.customer.evidence), effects)
            }
            page = try await next
        }
        return (tally, evaluation)
    }

    /// Evaluates the customers who changed since `evaluation`, in several rounds, until few changed customers are left.
    ///
    /// Usually each round takes less time than the previous round, so fewer customers change meanwhile.
    func catchUp(_ evaluation: PublicationEvaluation) async throws -> PublicationEvaluation {
        var evaluation = evaluation
        for _ in 0..<Self.maximumRounds {
            let position = evaluation.position
            let changes = try await store.write { try $0.changes(since: position) }
            evaluation.removeImpacts(of: changes)
            for ids in changes.customers.chunks(of: Self.pageSize) {
                let customers = try await store.read { transaction -> [CustomerToEvaluate] in
                    try ids.compactMap { try transaction.customerToEvaluate($0, restoringAfter: restoringAfter) }
                }
                for subject in customers { evaluation.update(subject, try evaluate(subject).impact) }
            }
            // Half of the maximum, because more customers may change before the publication.
            if changes.customers.count <= Self.maximumInPublication / 2 { break }
        }
        return evaluation
    }

    private static let maximumRounds = 20
    /// How many changed customers a publication evaluates while no other transaction writes: less than a second.
    static let maximumInPublication = 200

    /// Compares the customer's decisions under the new policy with those under the policy in effect: once with the
    /// customer's promises kept, and once with them ended. Also returns whether the customer gains or loses something,
    /// and which promises a publication ends. An unbound customer (artifacts without proof that they belong to their
    /// sender) counts as gaining and losing nothing.
    ///
    /// Throws if a promise refers to a version of the policy that this process hasn't read yet.
    func evaluate(
        _ subject: CustomerToEvaluate
    ) throws(Problem) -> (effects: CustomerEffects, impact: PublicationImpact) {
        let promises = subject.customer.facts.promises
        let customerEffects = comparison.customerEffects(
            on: subject.customer.evidence, promises: try policies.promises(promises),
            restored: try policies.promises(subject.restored))
        let effects = keepsPromises ? customerEffects.ifPromisesAreKept : customerEffects.ifPromisesEnd
        let lost = effects.filter { $0.change == .loses }.map(\.entitlement)
        var impact = PublicationImpact()
        if !subject.isUnbound {
            impact.gains = effects.contains { $0.change == .gains }
            impact.loses = !lost.isEmpty
        }
        if !keepsPromises { impact.ending = Set(promises.map(\.entitlement)).intersection(lost) }
        return (customerEffects, impact)
    }
}

/// The report of a rehearsal, made from the rehearsal's counts.
extension RehearsalAnswer {
    /// The maximum number of examples for each kind of change in a report. The rehearsal may have collected more.
    private static let maximumExamples = 10

    /// Creates the report of a rehearsal.
    ///
    /// - Parameters:
    ///   - tally: The counts and examples.
    ///   - linted: The linter's findings in the policy.
    ///   - version: The version of the policy with which the new policy was compared.
    init(_ tally: Tally, linted: [LintFinding], id: String, against version: Int64, at now: Date) {
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
}

extension RehearsalAnswer.Answer {
    fileprivate init(_ answer: TenureRehearsal.Answer) {
        self.init(outcome: answer.outcome.rawValue, reason: answer.reasonName, until: answer.until?.rfc3339)
    }
}
