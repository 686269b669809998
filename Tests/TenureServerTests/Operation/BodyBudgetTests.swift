import Testing

@testable import TenureServer

@Suite struct `memory for request bodies` {
    private static let megabyte = 1 << 20
    private static let second: UInt64 = 1_000_000_000
    private let clients = (1...99).compactMap { NetworkAddress("192.0.2.\($0)") }

    /// Adds a body that has arrived at this rate for ten seconds, from second 0 to second 10.
    private func body(
        of client: Int, rate: Int, in budget: BodyBudget, dropped: @escaping @Sendable () -> Void = {}
    ) -> BodyBudget.Body {
        let body = budget.open(for: clients[client], at: 0, drop: dropped)
        for second in 0..<10 { #expect(budget.reserve(rate, for: body, at: UInt64(second) * Self.second)) }
        return body
    }

    @Test func `memory for request bodies is reserved while a body arrives, and released afterward`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        let (first, second) = (budget.open(for: nil, at: 0), budget.open(for: nil, at: 0))
        #expect(budget.reserve(12 * Self.megabyte, for: first, at: 0))
        #expect(!budget.reserve(5 * Self.megabyte, for: second, at: 0))
        budget.close(first)
        #expect(budget.reserve(12 * Self.megabyte, for: second, at: 0))
        #expect(budget.droppedBodies == 0)
    }

    @Test func `a request body isn't dropped in its first two seconds`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        let (first, second) = (budget.open(for: nil, at: 0), budget.open(for: nil, at: Self.second))
        #expect(budget.reserve(12 * Self.megabyte, for: first, at: 0))
        #expect(!budget.reserve(5 * Self.megabyte, for: second, at: 2 * Self.second - 1))
        #expect(budget.reserve(5 * Self.megabyte, for: second, at: 2 * Self.second))
        #expect(budget.droppedBodies == 1)
    }

    @Test func `an app with small request bodies doesn't reduce the memory for the bodies of other apps`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        budget.allow(bodiesOf: Self.megabyte)
        #expect(budget.reserve(12 * Self.megabyte, for: budget.open(for: nil, at: 0), at: 0))
    }

    @Test func `memory for request bodies is freed by dropping the slowest body`() async {
        await confirmation(expectedCount: 1) { confirmed in
            let budget = BodyBudget(bytes: 16 * Self.megabyte)
            let quick = (0..<5).map { body(of: $0, rate: 200 * 1024, in: budget) }
            let slow = body(of: 6, rate: 100 * 1024, in: budget) { confirmed() }
            let new = budget.open(for: clients[7], at: 10 * Self.second)
            #expect(budget.reserve(2 * Self.megabyte, for: new, at: 10 * Self.second))
            #expect(!budget.reserve(1, for: slow, at: 10 * Self.second))
            for body in quick { #expect(budget.reserve(1, for: body, at: 10 * Self.second)) }
            #expect(budget.droppedBodies == 1)
            // Closing a dropped body doesn't release its memory a second time.
            budget.close(slow)
            for body in quick + [new] { budget.close(body) }
            let whole = budget.open(for: nil, at: 10 * Self.second)
            #expect(budget.reserve(12 * Self.megabyte, for: whole, at: 10 * Self.second))
            #expect(!budget.reserve(5 * Self.megabyte, for: whole, at: 10 * Self.second))
        }
    }

    @Test func `a request body that needs memory doesn't displace faster request bodies`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        let quick = (0..<6).map { body(of: $0, rate: 200 * 1024, in: budget) }
        let slow = body(of: 6, rate: 10 * 1024, in: budget)
        #expect(!budget.reserve(500 * 1024, for: slow, at: 10 * Self.second + 1))
        #expect(budget.droppedBodies == 0 && quick.allSatisfy { budget.reserve(1, for: $0, at: 10 * Self.second + 1) })
    }

    @Test func `a part of the memory for request bodies is reserved for small bodies and notifications`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        let large = (0..<6).map { _ in budget.open(for: nil, at: 0) }
        for body in large { #expect(budget.reserve(2 * Self.megabyte, for: body, at: 0)) }
        #expect(!budget.reserve(2 * Self.megabyte, for: budget.open(for: nil, at: 0), at: 0))
        let small = budget.open(for: clients[0], at: 0)
        #expect(budget.reserve(64 * 1024, for: small, at: 0))
        #expect(!budget.reserve(1, for: small, at: 0), "it is large now")
        let notification = budget.open(for: clients[1], isNotification: true, at: 0)
        #expect(budget.reserve(Self.megabyte, for: notification, at: 0))
        // A large body doesn't displace a small one, even if the small one is slow.
        #expect(budget.reserve(4 * Self.megabyte, for: budget.open(for: nil, at: 0), at: 60 * Self.second))
        #expect(budget.reserve(1, for: notification, at: 60 * Self.second))
    }

    @Test func `memory for request bodies is freed by dropping a slow large body, not slower bodies of one byte`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        let tiny = (0..<1000).map { _ in budget.open(for: nil, at: 0) }
        for body in tiny { #expect(budget.reserve(1, for: body, at: 0)) }
        let slow = body(of: 0, rate: 200 * 1024, in: budget)
        let quick = (1...3).map { body(of: $0, rate: 330 * 1024, in: budget) }
        #expect(
            budget.reserve(Self.megabyte, for: budget.open(for: clients[5], at: 10 * Self.second), at: 10 * Self.second)
        )
        #expect(!budget.reserve(1, for: slow, at: 10 * Self.second))
        for body in quick + tiny { #expect(budget.reserve(1, for: body, at: 10 * Self.second)) }
        #expect(budget.droppedBodies == 1)
    }

    @Test func `a client that exceeds a quarter of the memory for request bodies loses its slowest body`() {
        let budget = BodyBudget(bytes: 16 * Self.megabyte)
        let slow = body(of: 0, rate: 100 * 1024, in: budget)
        let quick = body(of: 0, rate: 200 * 1024, in: budget)
        let other = body(of: 1, rate: 1024, in: budget)
        let new = budget.open(for: clients[0], at: 10 * Self.second)
        #expect(budget.reserve(2 * Self.megabyte, for: new, at: 10 * Self.second))
        #expect(!budget.reserve(1, for: slow, at: 10 * Self.second))
        #expect(budget.reserve(1, for: quick, at: 10 * Self.second))
        #expect(budget.reserve(1, for: other, at: 10 * Self.second), "the other client's body isn't dropped")
        budget.allow(bodiesOf: 8 * Self.megabyte)
        #expect(budget.reserve(4 * Self.megabyte, for: new, at: 10 * Self.second))
    }
}

@Suite struct `the recent bytes of a request body` {
    private static let second: UInt64 = 1_000_000_000

    @Test func `the recent bytes of a request body are the bytes of the last ten seconds`() {
        var recent = RecentBytes(window: 10, at: 0)
        recent.add(1000, at: 0)
        #expect(recent.total(at: 9 * Self.second) == 1000)
        #expect(recent.total(at: 12 * Self.second) == 0)
        for second in 12..<60 { recent.add(5, at: UInt64(second) * Self.second) }
        #expect((50...55).contains(recent.total(at: 59 * Self.second)))
        #expect((4.9...5.6).contains(recent.rate(at: 59 * Self.second)))
    }

    @Test func `the rate of a request body in its first second is calculated as if a whole second had passed`() {
        var recent = RecentBytes(window: 10, at: 7)
        recent.add(1000, at: 7)
        #expect(recent.rate(at: 8) == 1000)
        #expect(recent.rate(at: 7 + 2 * Self.second) == 500)
        recent.add(1, at: 0)
        #expect(recent.total(at: 0) == 1001, "a clock that goes backwards")
    }

    @Test func `the recent bytes of a request body cover the window that was set`() {
        var recent = RecentBytes(window: 2, at: 0)
        recent.add(1000, at: 0)
        // The window is divided into tenths, and the current tenth is counted too.
        #expect(recent.total(at: 2_199_999_999) == 1000)
        #expect(recent.total(at: 2_200_000_000) == 0)
        recent.add(300, at: 3 * Self.second)
        // The rate is that of the two seconds since the start of the window.
        #expect(recent.rate(at: 3 * Self.second) == 150)
    }
}
