import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// What every question reads, where the clock changes between questions and the engine's news.
@Suite struct `What is known at an instant` {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let clock = Locked(Date(timeIntervalSince1970: 1_700_000_000))

    private func snapshot(_ answer: Tenure.Answer) -> CustomerState.Snapshot {
        var snapshot = CustomerState.Snapshot(
            customer: Tenure.Customer(answers: ["pro": answer]), floor: start, isSearched: true)
        snapshot.graceEnds = start.addingTimeInterval(86_400)
        return snapshot
    }

    private var granted: Tenure.Answer { .kept("pro", title: nil, until: start.addingTimeInterval(100)) }

    private func state(_ snapshot: CustomerState.Snapshot) -> CustomerState {
        let clock = clock
        return CustomerState(snapshot, clock: { clock.withLock { $0 } }) { _ in throw CancellationError() }
    }

    private func turn(to seconds: TimeInterval) { clock.withLock { $0 = start.addingTimeInterval(seconds) } }

    @Test func `includes the latest instant, though the clock was turned back and the engine knows no later one`() {
        let state = state(snapshot(granted))
        #expect(state.allows("pro"))
        turn(to: 100)
        #expect(!state.allows("pro"))
        turn(to: 0)
        state.post(snapshot(granted))
        #expect(!state.allows("pro") && !state.customer.allows("pro"))
        // A new signature shows that the clock had been wrong.
        var healed = snapshot(granted)
        healed.heals = 1
        state.post(healed)
        #expect(state.allows("pro"))
    }

    @Test func `gives a right that has ended no grace, whatever is undetermined afterward`() {
        let state = state(snapshot(granted))
        turn(to: 100)
        #expect(!state.allows("pro"))
        #expect(state.verdict(on: "pro") == .ended)
        state.post(snapshot(.unanswered("pro")))
        #expect(!state.allows("pro") && !state.customer.allows("pro"))
        // Another right has its grace.
        #expect(state.allows("cloud"))
    }
}
