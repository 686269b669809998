import Foundation
import TenureCore
import Testing

@testable import Tenure

/// The state that questions read, if the clock changes between questions and the engine's updates.
@Suite struct `The customer's state at an instant` {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let clock = Locked(Date(timeIntervalSince1970: 1_700_000_000))

    private func snapshot(
        _ answer: Tenure.Answer, searches: Int = 1, at seconds: TimeInterval = 0
    ) -> CustomerState.Snapshot {
        var snapshot = CustomerState.Snapshot(
            customer: Tenure.Customer(answers: ["pro": answer]), floor: start.addingTimeInterval(seconds),
            finishedSearches: searches)
        snapshot.graceEnds = start.addingTimeInterval(86_400)
        return snapshot
    }

    private var granted: Tenure.Answer { .kept("pro", title: nil, until: start.addingTimeInterval(100)) }

    private func state(_ snapshot: CustomerState.Snapshot) -> CustomerState {
        let clock = clock
        return CustomerState(snapshot, clock: { clock.withLock { $0 } }) { _ in throw CancellationError() }
    }

    private func turn(to seconds: TimeInterval) { clock.withLock { $0 = start.addingTimeInterval(seconds) } }

    @Test func `after the clock was turned back, the customer's state uses the latest known instant`() {
        let state = state(snapshot(granted))
        #expect(state.allows("pro"))
        turn(to: 100)
        #expect(!state.allows("pro"))
        turn(to: 0)
        state.post(snapshot(granted))
        #expect(!state.allows("pro") && !state.customer.allows("pro"))
        // A new signature proves that the clock was wrong before.
        var healed = snapshot(granted)
        healed.clockCorrections = 1
        state.post(healed)
        #expect(state.allows("pro"))
    }

    @Test func `an ended right gets no grace period, even if it becomes undetermined`() {
        let state = state(snapshot(granted))
        turn(to: 100)
        #expect(!state.allows("pro"))
        #expect(state.access(to: "pro") == .ended)
        state.post(snapshot(.unanswered("pro")))
        #expect(!state.allows("pro") && !state.customer.allows("pro"))
        // Another right keeps its grace period.
        #expect(state.allows("cloud"))
    }

    @Test func `a right that ends while nothing asks for it gets no grace period, unless another account signs in`() {
        let state = state(snapshot(granted))
        turn(to: 100)
        state.post(snapshot(.unanswered("pro"), at: 100))
        #expect(!state.allows("pro"))
        var other = snapshot(.unanswered("pro"), at: 100)
        other.accountChanges = 1
        state.post(other)
        #expect(state.allows("pro"))
    }

    @Test(arguments: [false, true])
    func `a denial after the end of a right counts only after a search that began after that end`(
        endsDuringSearch: Bool
    ) {
        let state = state(snapshot(granted))
        state.beginSearch()
        if endsDuringSearch { state.beginSearch() }
        turn(to: 100)
        #expect(state.access(to: "pro") == .ended)
        if endsDuringSearch {
            // This search may have read the purchases before the end.
            state.post(snapshot(.unanswered("pro"), searches: 2))
            #expect(state.access(to: "pro") == .ended)
        }
        let searches = endsDuringSearch ? 2 : 1
        state.beginSearch()
        // The next search publishes its first results before it has read the purchases.
        state.post(snapshot(.unanswered("pro"), searches: searches))
        #expect(state.access(to: "pro") == .ended)
        state.post(snapshot(.unanswered("pro"), searches: searches + 1))
        #expect(state.access(to: "pro") == .stale)
    }

    @Test func `a trial session counts at once although a right to its entitlement has ended`() {
        let state = state(snapshot(granted))
        turn(to: 100)
        #expect(state.access(to: "pro") == .ended)
        state.beginSession(of: "pro", UUID(), until: start.addingTimeInterval(300))
        #expect(state.access(to: "pro") == .yes)
    }

    @Test func `a renewed right that ends again counts as ended until a search finishes`() {
        let state = state(snapshot(granted))
        state.beginSearch()
        turn(to: 100)
        state.beginSearch()
        state.post(snapshot(.kept("pro", title: nil, until: start.addingTimeInterval(200)), searches: 2, at: 100))
        #expect(state.access(to: "pro") == .yes)
        turn(to: 200)
        state.post(snapshot(.unanswered("pro"), searches: 2, at: 200))
        #expect(state.access(to: "pro") == .ended)
    }

    // `ended` makes callers wait for the running search, because it may find a renewal.
    @Test func `a right that ends during the first search counts as ended once callers stop waiting for the search`() {
        let state = state(snapshot(granted, searches: 0))
        state.beginSearch()
        turn(to: 100)
        #expect(state.access(to: "pro") == .resolving)
        state.endResolving()
        #expect(state.access(to: "pro") == .ended)
        state.post(snapshot(.unanswered("pro"), searches: 0))
        #expect(state.access(to: "pro") == .ended)
    }

    @Test func `a right stays ended if it has also ended by the corrected clock`() {
        let state = state(snapshot(granted))
        state.beginSearch()
        turn(to: 200)
        #expect(!state.allows("pro"))
        state.post(snapshot(.unanswered("pro"), at: 200))
        turn(to: 150)
        var corrected = snapshot(.unanswered("pro"), at: 150)
        corrected.clockCorrections = 1
        state.post(corrected)
        #expect(!state.allows("pro"))
        #expect(state.access(to: "pro") == .ended)
    }

    @Test func `the end of one of two trial sessions leaves the other session running`() {
        let state = state(.init(customer: Tenure.Customer(answers: [:]), floor: start, finishedSearches: 1))
        let (first, second) = (UUID(), UUID())
        state.beginSession(of: "pro", first, until: start.addingTimeInterval(100))
        state.beginSession(of: "pro", second, until: start.addingTimeInterval(200))
        #expect(state.nextEnd == start.addingTimeInterval(100))
        state.endSession(of: "pro", first)
        #expect(state.allows("pro") && state.customer.allows("pro") && !state.allows("cloud"))
        #expect(state.nextEnd == start.addingTimeInterval(200))
        turn(to: 199)
        #expect(state.allows("pro"))
        turn(to: 200)
        #expect(!state.allows("pro") && state.nextEnd == nil)
    }

    @Test func `the next end is that of the first right, session or grace period that ends`() {
        var snapshot = snapshot(granted)
        snapshot.customer.answers["cloud"] = .kept("cloud", title: nil, until: start.addingTimeInterval(50))
        snapshot.customer.answers["sounds"] = .kept("sounds", title: nil, until: nil)
        let state = state(snapshot)
        for (now, next) in [(0.0, 50.0), (50, 100), (100, 86_400)] {
            turn(to: now)
            #expect(state.nextEnd == start.addingTimeInterval(next), "after \(now) seconds")
        }
        turn(to: 86_400)
        #expect(state.nextEnd == nil)
    }

    @Test func `a stored denial gets no grace period before the first answer, also in the customer's value`() {
        var snapshot = CustomerState.Snapshot(customer: Tenure.Customer(answers: [:]), floor: start)
        snapshot.graceEnds = start.addingTimeInterval(100)
        snapshot.denials = ["pro"]
        let state = state(snapshot)
        #expect(!state.allows("pro") && !state.customer.allows("pro"))
        #expect(state.allows("cloud") && state.customer.allows("cloud"))
        turn(to: 100)
        #expect(!state.allows("cloud") && !state.customer.allows("cloud"))
    }

    @Test func `updates of a customer report that a trial session is over at its end`() async throws {
        let clock = clock
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let state = CustomerState(
            .init(customer: Tenure.Customer(answers: [:]), floor: start, finishedSearches: 1),
            clock: { clock.withLock { $0 } }
        ) { end in
            for await _ in gate { break }
            clock.withLock { $0 = end }
        }
        var values = state.watch().makeAsyncIterator()
        #expect(await values.next()?.allows("pro") == false)
        let end = start.addingTimeInterval(100)
        state.beginSession(of: "pro", UUID(), until: end)
        #expect(await values.next()?.allows("pro") == true)
        try #require(state.nextEnd == end)
        opener.yield()
        #expect(await values.next()?.allows("pro") == false)
    }

    @Test func `updates of a customer don't repeat a customer that hasn't changed`() async {
        let state = state(snapshot(granted))
        var values = state.watch().makeAsyncIterator()
        #expect(await values.next()?.allows("pro") == true)
        state.post(snapshot(granted))
        state.close()
        #expect(await values.next() == nil)
    }

    @Test func `updates of a customer report the beginning and the end of a trial session`() async {
        let state = state(.init(customer: Tenure.Customer(answers: [:]), floor: start, finishedSearches: 1))
        var values = state.watch().makeAsyncIterator()
        #expect(await values.next()?.allows("pro") == false)
        let id = UUID()
        state.beginSession(of: "pro", id, until: start.addingTimeInterval(100))
        #expect(await values.next()?.allows("pro") == true)
        state.endSession(of: "pro", id)
        // Without a message about the end, the stream would end here.
        state.close()
        #expect(await values.next()?.allows("pro") == false)
    }
}
