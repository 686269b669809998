import Foundation
import Testing

@testable import TenureCore

@Suite struct PolicyLimitTests {
    @Test func `a policy's trial has at least one session or day`() throws {
        for (trial, isValid) in [(Trial.sessions(1), true), (.days(1), true), (.sessions(0), false), (.days(0), false)]
        {
            let policy = try? Policy(
                app: Policy.App(bundleID: "com.example.calculator"), eras: [Era(name: "any", model: .free)],
                entitlements: [Entitlement(name: "everything", products: [.init(id: Calculator.all)], trial: trial)])
            #expect((policy != nil) == isValid, "\(trial)")
        }
    }

    @Test func `an honor's purchase window must begin before it ends`() throws {
        for (before, isValid) in [("2014-01-02", true), ("2014-01-01", false), ("2013-12-31", false)] {
            let honor = Honor(era: "paid", boughtSince: date("2014-01-01"), boughtBefore: date(before))
            #expect(((try? Calculator.policy(honors: [honor])) != nil) == isValid, "\(before)")
        }
    }
}
