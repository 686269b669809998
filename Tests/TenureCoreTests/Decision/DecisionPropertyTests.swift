import Foundation
import TenureMint
import Testing

@testable import TenureCore

/// `make soak` tries a hundred times as many customers.
private let effort = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 1 : 100

@Suite struct DecisionPropertyTests {
    @Test func `decide gives the same decisions for evidence in any order`() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<400 * effort {
            let policy = try Calculator.policy(inDoubt: Bool.random(using: &random) ? .favorCustomer : .undetermined)
            let proofs = (0..<Int.random(in: 0...5, using: &random)).map { _ in RandomEvidence.proof(using: &random) }
            let bought = (0..<Int.random(in: 0...5, using: &random)).map { _ in RandomEvidence.purchase(using: &random)
            }
            let renewals = (0..<2).map { _ in RandomEvidence.renewal(using: &random) }
            let expected = decide(
                Calculator.evidence(proofs, transactions: bought, renewals: renewals), under: policy, at: Calculator.now
            )
            for _ in 0..<4 {
                let shuffled = Calculator.evidence(
                    proofs.shuffled(using: &random), transactions: (bought + bought).shuffled(using: &random),
                    renewals: renewals.shuffled(using: &random))
                #expect(decide(shuffled, under: policy, at: Calculator.now) == expected)
            }
        }
    }

    @Test func `a grant that isn't in doubt stays granted after more evidence of the customer is added`() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<2_000 * effort {
            let policy = try Calculator.policy(buildNumbers: Bool.random(using: &random) ? .increasing : .restarted)
            let truth = TrueAcquisition(using: &random)
            let few = (0..<Int.random(in: 1...2, using: &random)).map { _ in truth.glimpse(using: &random) }
            let before = try Calculator.decide(Calculator.evidence(few), under: policy)
            guard before.outcome == .granted, !before.reasons.contains(where: { $0.code == "inDoubt" }) else {
                continue
            }
            let more = (0..<Int.random(in: 1...4, using: &random)).map { _ in truth.glimpse(using: &random) }
            let stranger = RandomEvidence.proof(using: &random)
            let others = stranger.id == nil || stranger.revocationDate != nil ? [] : [stranger]
            let after = try Calculator.decide(
                Calculator.evidence(few + more + others, transactions: [RandomEvidence.purchase(using: &random)]),
                under: policy)
            #expect(after.outcome == .granted, "\(few) then \(more)")
        }
    }

    @Test func `decide never removes an entitlement because of a purchase`() throws {
        var random = SeededRandom(seed: 9)
        let policy = try Calculator.policy()
        for _ in 0..<500 * effort {
            let proofs = (0..<Int.random(in: 0...3, using: &random)).map { _ in RandomEvidence.proof(using: &random) }
            let without = try Calculator.decide(Calculator.evidence(proofs), under: policy)
            guard without.outcome == .granted else { continue }
            let bought = (0..<3).map { _ in RandomEvidence.purchase(using: &random) }
            let with = try Calculator.decide(Calculator.evidence(proofs, transactions: bought), under: policy)
            #expect(with.outcome == .granted)
            #expect(!without.until.outlasts(with.until))
        }
    }

    @Test func `decide ends a right exactly at its end date`() throws {
        var random = SeededRandom(seed: 13)
        let policy = try Calculator.policy()
        for _ in 0..<500 * effort {
            let evidence = Calculator.evidence(
                [RandomEvidence.proof(using: &random)],
                transactions: (0..<3).map { _ in RandomEvidence.purchase(using: &random) })
            let decision = try Calculator.decide(evidence, under: policy)
            guard decision.outcome == .granted, let until = decision.until else { continue }
            #expect(until > Calculator.now)
            let justBefore = try Calculator.decide(evidence, under: policy, at: until.addingTimeInterval(-0.5))
            #expect(justBefore.outcome == .granted)
            #expect(try Calculator.decide(evidence, under: policy, at: until).outcome != .granted)
        }
    }

    @Test func `every decision has a reason in one sentence that blames no customer`() throws {
        var random = SeededRandom(seed: 17)
        for _ in 0..<1_000 * effort {
            let policy = try Calculator.policy(inDoubt: Bool.random(using: &random) ? .favorCustomer : .undetermined)
            let evidence = Calculator.evidence(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in RandomEvidence.proof(using: &random) },
                transactions: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    RandomEvidence.purchase(using: &random)
                },
                complete: Bool.random(using: &random))
            let decision = try Calculator.decide(evidence, under: policy)
            #expect(!decision.reasons.isEmpty)
            #expect(decision.sentence.hasSuffix(".") && decision.sentence.contains("“everything”"))
            #expect(!decision.sentence.lowercased().contains("did not buy"))
            #expect((decision.outcome == .undetermined) == !decision.nextSteps.isEmpty)
        }
    }
}

/// How a customer really got the app. Each artifact shows a part of these facts, and nothing that contradicts them.
private struct TrueAcquisition {
    let platform: Platform
    let version: String
    let bought: String

    init(using random: inout SeededRandom) {
        let all: [(Platform, String, String)] = [
            (.iOS, "37", "2014-05-01"), (.iOS, "119", "2015-06-01"), (.iOS, "130", "2015-06-20"),
            (.macOS, "1.10", "2014-02-01"), (.macOS, "2.1", "2015-06-20"), (.tvOS, "90", "2014-09-01"),
        ]
        (platform, version, bought) = all.randomElement(using: &random) ?? all[0]
    }

    func glimpse(using random: inout SeededRandom) -> AppProof {
        let isReceipt = Bool.random(using: &random)
        return Calculator.app(
            Int.random(in: 0..<4, using: &random) == 0 ? nil : version,
            Int.random(in: 0..<6, using: &random) == 0 ? nil : bought,
            platform: isReceipt || Bool.random(using: &random) ? nil : platform,
            signed: RandomEvidence.instants.randomElement(using: &random) ?? "2015-01-01",
            id: isReceipt ? .download("41") : .appTransaction("42"), kind: isReceipt ? .receipt : .appTransaction)
    }
}
