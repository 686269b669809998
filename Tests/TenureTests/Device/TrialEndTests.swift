import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Trials that the device counts` {
    @Test func `a trial of sessions or days is over at its exact end`() throws {
        let now = InventedApp.now
        var state = StoredState(clock: now)
        let first = try state.beginTrial(.sessions(2), of: "pro", at: now)
        #expect(first.sessions == 2 && first.sessionsLeft == 1 && first.ends == now.addingTimeInterval(InventedApp.day))
        let second = try state.beginTrial(.sessions(2), of: "pro", at: now)
        #expect(second.sessionsLeft == 0)
        #expect(throws: Tenure.Error.trialOver(entitlement: "pro")) {
            try state.beginTrial(.sessions(2), of: "pro", at: now)
        }

        let end = now.addingTimeInterval(7 * InventedApp.day)
        let days = try state.beginTrial(.days(7), of: "cloud", at: now)
        #expect(days.ends == end && days.sessions == nil && days.sessionsLeft == nil)
        let last = end.addingTimeInterval(-1)
        let continued = try state.beginTrial(.days(7), of: "cloud", at: last)
        #expect(continued.ends == end)
        #expect(state.sessionsLeft(of: .days(7), named: "cloud", at: last) == 1)
        #expect(state.sessionsLeft(of: .days(7), named: "cloud", at: end) == 0)
        #expect(throws: Tenure.Error.trialOver(entitlement: "cloud")) {
            try state.beginTrial(.days(7), of: "cloud", at: end)
        }
        // Another entitlement has its own trial.
        #expect(state.sessionsLeft(of: .sessions(2), named: "cloud", at: now) == 2)
    }
}
