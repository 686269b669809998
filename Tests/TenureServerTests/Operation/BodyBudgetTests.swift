import Testing

@testable import TenureServer

@Suite struct `bytes of bodies at once` {
    private let one = NetworkAddress("192.0.2.1")
    private let others = (2...9).compactMap { NetworkAddress("192.0.2.\($0)") }

    @Test func `are no more than the budget, and come back`() {
        let budget = BodyBudget(bytes: 100)
        #expect(budget.take(60, for: nil) && !budget.take(41, for: nil) && budget.take(40, for: nil))
        #expect(!budget.take(1, for: nil))
        budget.give(60, for: nil)
        #expect(budget.take(60, for: nil) && !budget.take(1, for: nil) && budget.take(0, for: nil))
    }

    @Test func `are a quarter for one client, however much room there is`() throws {
        let one = try #require(one)
        let budget = BodyBudget(bytes: 100)
        #expect(budget.take(20, for: one) && !budget.take(6, for: one) && budget.take(5, for: one))
        for other in others.prefix(3) { #expect(budget.take(25, for: other)) }
        #expect(!budget.take(1, for: others[3]))
        budget.give(25, for: one)
        #expect(budget.take(25, for: one))
        budget.allow(bodies: 50)
        #expect(budget.take(25, for: one) && !budget.take(1, for: one))
    }
}
