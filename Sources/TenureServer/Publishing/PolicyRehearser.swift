import Foundation
import TenureAPI
import TenureCore
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
                    evaluation.update(
                        subject, evaluator.impact(on: subject, result, keepingPromises: keepingPromises))
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
