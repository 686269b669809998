import Foundation
import Testing

@testable import TenureCore

/// Which details of a decision its sentence contains.
@Suite struct SentenceDetailTests {
    private func sentence(_ proof: AppProof, on entitlement: Entitlement) throws -> String {
        let calculator = try Calculator.policy()
        let policy = try Policy(
            app: calculator.app, eras: calculator.eras, buildNumbers: .increasing, entitlements: [entitlement])
        return try Calculator.decide(Calculator.evidence([proof]), under: policy).sentence
    }

    @Test func `a pre-order after the purchase isn't in the sentence`() throws {
        func sentence(preordered: String) throws -> String {
            let proof = AppProof(
                kind: .appTransaction, signedDate: date("2015-06-30"), id: .appTransaction("1"), originalPlatform: .iOS,
                originalAppVersion: "37", originalPurchaseDate: date("2014-05-01"), preorderDate: date(preordered))
            return try self.sentence(proof, on: Entitlement(name: "everything", honors: [Honor(era: "paid")]))
        }
        let before = try sentence(preordered: "2014-04-20")
        #expect(before.contains("you pre-ordered the app on April 20, 2014 and got it on May 1, 2014"), "\(before)")
        let after = try sentence(preordered: "2014-06-01")
        #expect(after.contains("you got the app on May 1, 2014") && !after.contains("pre-ordered"), "\(after)")
    }

    @Test func `the sentence names up to two products that grant an entitlement, and not more`() throws {
        let products = ["Alpha", "Beta", "Gamma"].map { Entitlement.Product(id: $0, title: ["en": $0]) }
        for (count, words) in [(1, "“Alpha”"), (2, "“Alpha” or “Beta”"), (3, "a purchase")] {
            let found = try sentence(
                Calculator.app("130", "2015-06-30"),
                on: Entitlement(name: "everything", products: Array(products.prefix(count))))
            #expect(found.contains("comes with \(words) in the app"), "\(found)")
        }
    }

    @Test func `the sentence names the dates for which an entitlement was offered only if there is one such window`()
        throws
    {
        let early = Honor(era: "paid", boughtBefore: date("2014-04-10"))
        let late = Honor(era: "paid", boughtSince: date("2014-06-10"))
        for (honors, names) in [([early], true), ([late], true), ([early, late], false), ([late, early], false)] {
            let found = try sentence(
                Calculator.app("37", "2014-05-01"), on: Entitlement(name: "everything", honors: honors))
            #expect(found.contains("it's for people who got it") == names, "\(found)")
            #expect(found.contains("outside the dates for which it was offered") != names, "\(found)")
        }
    }
}
