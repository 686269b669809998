import TenureCore
import Testing

@testable import TenureRehearsal

struct FailConditionTests {
    private func report(_ conditions: [String]) throws -> RehearsalReport {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
        var tally = Tally(for: comparison)
        for customer in Population.customers(400, seed: 4) {
            comparison.count(customer.evidence, id: customer.id, in: &tally)
        }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally,
            conditions: try conditions.map { try FailCondition($0, of: comparison) })
    }

    @Test func `--fail-if measures the named entitlement, or the entitlement with the highest value`() throws {
        let report = try report([
            "lost>0", "lost>=1000", "everything.denied > 0.5%", "denied<=100%", "cloud.lost<1", "granted<0",
            "eraNotHonored>0",
        ])
        let measurements = report.measurements
        #expect(report.tally.losing > 0)
        #expect(measurements[0].fails && measurements[0].value == Double(report.tally.losing))
        #expect(!measurements[1].fails)
        let denied = Double(report.tally.byEntitlement[0].counts.denied) / 400 * 100
        #expect(measurements[2].fails && measurements[2].value == denied && measurements[2].entitlement == "everything")
        #expect(measurements[3].fails)
        #expect(measurements[4].entitlement == "cloud")
        #expect(!measurements[5].fails)
        #expect(measurements[6].fails)
    }

    @Test func `in --fail-if, a value equal to the limit is neither more nor less than the limit`() throws {
        let losing = try report([]).tally.losing
        let measurements = try report(["lost>=\(losing)", "lost>\(losing)", "lost<=\(losing)", "lost<\(losing)"])
            .measurements
        #expect(losing > 0 && measurements.map(\.fails) == [true, false, true, false])
    }

    @Test func `a --fail-if condition without an entitlement counts each customer once`() throws {
        let report = try report(["changed>0"])
        #expect(report.measurements[0].value == Double(report.tally.changed))
        #expect(report.measurements[0].entitlement == nil)
        // A customer who gains two entitlements is counted once.
        let generous = Comparison(
            of: try Population.policy(freeFrom: "120", alsoNames: "all"),
            against: try Population.policy(freeFrom: "120"), at: Population.now)
        let wider = Comparison(
            of: try Population.policy(freeFrom: "150", alsoNames: "all"),
            against: try Population.policy(freeFrom: "120"), at: Population.now)
        for comparison in [generous, wider] {
            var tally = Tally(for: comparison)
            for customer in Population.customers(400, seed: 4) {
                comparison.count(customer.evidence, id: customer.id, in: &tally)
            }
            let report = RehearsalReport(
                policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
                input: .database(name: "database", skipped: 0), tally: tally,
                conditions: [try FailCondition("gained>0", of: comparison)])
            #expect(report.tally.gaining > 0)
            #expect(
                report.measurements[0].value == Double(report.tally.gaining)
                    && report.measurements[0].entitlement == nil)
        }
        // The first entitlement has customers, and another entitlement has none.
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        var tally = Tally(for: comparison)
        let owner = try #require(
            Population.customers(400, seed: 4).first { customer in
                let outcomes = comparison.effects(on: customer.evidence).map(\.now.outcome)
                return outcomes.first == .granted && outcomes.dropFirst().contains { $0 != .granted }
            })
        comparison.count(owner.evidence, id: owner.id, in: &tally)
        let single = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally,
            conditions: [try FailCondition("granted<1", of: comparison)])
        #expect(single.measurements.first?.fails == true)
        #expect(single.measurements.first?.entitlement != comparison.entitlements.first)
    }

    @Test func `a --fail-if condition accepts an entitlement that has periods in its name`() throws {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100", alsoNames: "pro.cloud"), at: Population.now)
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: Tally(for: comparison),
            conditions: [try FailCondition("pro.cloud.denied>=0", of: comparison)])
        #expect(report.measurements.map(\.entitlement) == ["pro.cloud"])
    }

    @Test func `a denial that becomes undetermined is a change, and neither a gain nor a loss`() throws {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "120"), against: try Population.policy(freeFrom: "120", honors: false),
            at: Population.now)
        // Without a version and a date, the customer may be an owner.
        let proof = AppProof(
            kind: .appTransaction, signedDate: Population.now, id: .appTransaction("1"), originalPlatform: .iOS)
        var tally = Tally(for: comparison)
        comparison.count(
            Evidence(environment: .production, app: [proof], purchasesAreComplete: true), id: "1", in: &tally)
        #expect(tally.byEntitlement.map(\.counts.undetermined) == [1, 1])
        #expect(tally.gaining == 0 && tally.losing == 0)
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally,
            conditions: try ["changed>0", "changesOutcome>0"].map { try FailCondition($0, of: comparison) })
        #expect(report.measurements.map(\.fails) == [true, true])
    }

    @Test func `a rehearsal without customers fails, even without conditions`() throws {
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        let empty = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: Tally(for: comparison), conditions: [])
        #expect(empty.failures == [.noCustomers])
    }

    @Test(arguments: [
        ("lost", "write a measure, `>`, `>=`, `<` or `<=`, and a number, such as `denied>0.5%`"),
        ("lost>", "`` isn't a number; write one such as `0`, `100` or `0.5%`"),
        ("lost>many", "`many` isn't a number; write one such as `0`, `100` or `0.5%`"),
        ("loss>0", "`loss` isn't a measure; the measures are granted, denied, undetermined, gained, lost"),
        ("everythin.lost>0", "there is no entitlement `everythin`; write one of `everything`"),
        ("lost>-1", "`-1` isn't a number; write one such as `0`"), (">0", "`` isn't a measure; the measures are"),
        ("everything.rejected>0", "write `rejected` without an entitlement"),
        ("lost=0", "write a measure, `>`, `>=`, `<` or `<=`, and a number"),
        ("lost>inf", "`inf` isn't a number; write one such as `0`"),
        ("lost>nan%", "`nan` isn't a number; write one such as `0`"),
        ("everything.contradicting>0", "write `contradicting` without an entitlement"),
    ])
    func `an invalid --fail-if condition is refused with advice on what to write`(text: String, advice: String) throws {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
        let error = #expect(throws: RehearsalError.self) { try FailCondition(text, of: comparison) }
        let description = error.map { "\($0)" } ?? ""
        #expect(
            description.hasPrefix("`\(text)` isn't a condition: ") && description.contains(advice), "\(description)")
    }

    @Test func `a --fail-if condition about losses, gains or changes is refused without an old policy`() throws {
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        for measure in [
            "lost", "gained", "changed", "everything.changed", "loses", "gains", "changesOutcome", "changesReason",
            "everything.lost",
        ] {
            let error = #expect(throws: RehearsalError.self, "\(measure)") {
                try FailCondition("\(measure)>0", of: comparison)
            }
            #expect(error?.description.contains("add --against") == true, "\(measure)")
        }
        #expect(throws: Never.self) { try FailCondition("denied>0", of: comparison) }
    }

    @Test func `a database has no rejected lines, so a --fail-if condition about them measures zero`() throws {
        let measurements = try report(["rejected>0", "rejected>0%", "rejected>=0"]).measurements
        #expect(measurements.map(\.value) == [0, 0, 0] && measurements.map(\.fails) == [false, false, true])
        #expect(measurements.map(\.text) == ["0", "0%", "0"])
    }

    @Test func `the measured value of a --fail-if condition is of the first entitlement that fails`() throws {
        let tally = try report([]).tally
        let counts = tally.byEntitlement.map(\.counts.denied)
        let limit = min(counts[0], counts[1])
        #expect(counts[0] != counts[1])
        let measurement = try #require(try report(["denied>\(limit)"]).measurements.first)
        let index = counts[0] > limit ? 0 : 1
        #expect(measurement.entitlement == tally.entitlements[index] && measurement.value == Double(counts[index]))
    }
}
