import TenureCore
import Testing

@testable import TenureRehearsal

/// Which sentence a comparison of two policies gets if several apply.
struct HeadlineComparisonTests {
    private func report(
        freeFrom new: String, against old: String = "120", conditions: [String] = [],
        isPartial: Bool = false,
        customers: [(id: String, evidence: Evidence)] = Population.customers(400, seed: 4)
    ) throws -> RehearsalReport {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: new), against: try Population.policy(freeFrom: old),
            at: Population.now)
        var tally = Tally(for: comparison)
        for customer in customers { comparison.count(customer.evidence, id: customer.id, in: &tally) }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally, isPartial: isPartial,
            conditions: try conditions.map { try FailCondition($0, of: comparison) })
    }

    @Test func `a rehearsal's headline is ready to ship only if no customer gains or loses anything`()
        throws
    {
        let same = try report(freeFrom: "120").headline
        #expect(same.level == .go)
        #expect(same.sentence == "Ready to ship: every outcome stays the same for all 400 customers.")
        let gaining = try report(freeFrom: "150")
        let count = gaining.tally.gaining
        #expect(count > 0 && gaining.tally.losing == 0 && gaining.headline.level == .check)
        #expect(
            gaining.headline.sentence
                == "No customer loses anything, and \(count) of 400 customers would gain `everything`: check that you "
                + "intend this.")
        let losing = try report(freeFrom: "100").headline
        #expect(losing.level == .stop && losing.sentence.hasPrefix("Do not ship: "))
        #expect(losing.sentence.contains("would lose `everything`"), "\(losing.sentence)")
    }

    @Test
    func
        `a rehearsal's headline names losses before a failed condition, and a failed condition before gains`()
        throws
    {
        let losing = try report(freeFrom: "100", conditions: ["granted>0"])
        #expect(losing.failures.count == 1 && losing.headline.sentence.contains("would lose"))
        #expect(!losing.headline.sentence.contains("condition"))
        let gaining = try report(freeFrom: "150", conditions: ["gained>0"]).headline
        #expect(gaining.level == .stop)
        #expect(
            gaining.sentence.hasPrefix("Do not ship: the condition “gained>0” is met, with the value "))
        #expect(try report(freeFrom: "150", conditions: ["gained>400"]).headline.level == .check)
    }

    @Test
    func `a rehearsal's headline gives no verdict about a part of the customers, or about none`()
        throws
    {
        let partial = try report(freeFrom: "100", conditions: ["granted>0"], isPartial: true)
        #expect(partial.tally.losing > 0 && partial.headline.level == .stop)
        #expect(partial.headline.sentence == "No verdict: it was stopped before the end.")
        let none = try report(freeFrom: "100", conditions: ["granted<1"], customers: []).headline
        #expect(none.level == .stop && none.sentence == "No verdict: no customer was rehearsed.")
    }
}
