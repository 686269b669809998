import Testing

@testable import TenureServer

@Suite struct `bytes of bodies at once` {
    @Test func `are no more than the budget, and come back`() {
        let budget = BodyBudget(bytes: 100)
        #expect(budget.take(60) && !budget.take(41) && budget.take(40) && !budget.take(1))
        budget.give(60)
        #expect(budget.take(60) && !budget.take(1) && budget.take(0))
    }
}
