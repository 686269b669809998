import Foundation
import Testing

@testable import TenureCore

/// The code and the facts of each reason, which responses, logs and the audit contain.
@Suite struct ReasonFactTests {
    /// A customer with two acquisitions of the app, and with purchases of the products `a` and `b`.
    private func context() throws -> Reason.Context {
        func purchase(_ id: String, of product: String, _ bought: String) -> Purchase {
            Purchase(
                transactionID: id, productID: product, type: .nonConsumable, purchaseDate: date(bought), signedDate: nil
            )
        }
        let evidence = Calculator.evidence(
            [
                Calculator.app("37", "2014-05-01", id: .appTransaction("1")),
                Calculator.app("2.0", "2015-07-01", platform: .macOS, id: .appTransaction("2")),
            ],
            transactions: [purchase("1", of: "a", "2015-01-01"), purchase("2", of: "b", "2015-02-01")],
            environment: .sandbox, persona: Persona(name: "owner", proof: Calculator.app("1", nil)))
        return Reason.Context(evidence, evaluated: evidence.acquisitions, under: try Calculator.policy())
    }

    @Test func `each reason has its code, and its facts in their order`() throws {
        let context = try context()
        let phone = try #require(context.acquisitions.firstIndex { $0.originalAppVersion == "37" })
        let mac = try #require(context.acquisitions.firstIndex { $0.originalAppVersion == "2.0" })
        let at = date("2015-06-11")
        let (paid, free, both) = (EraSet(from: 0, to: 1), EraSet(from: 1, to: 2), EraSet(from: 0, to: 2))
        let rows: [(Finding, String, [String], [Reason.Fact])] = [
            (.eraHonored(both), "eraHonored", ["eras"], [.names(["paid", "freemium"])]),
            (.eraNotHonored(free), "eraNotHonored", ["eras"], [.names(["freemium"])]),
            (
                .inDoubt(honored: paid, others: free), "inDoubt", ["honored", "others"],
                [.names(["paid"]), .names(["freemium"])]
            ),
            (.noHonors, "noHonors", [], []),
            (.nothingToCompare, "nothingToCompare", [], []),
            (.noAcquisition, "noAcquisition", [], []),
            (.outsideWindow(era: 0), "outsideWindow", ["era"], [.text("paid")]),
            (.windowNeedsDate(era: 1), "windowNeedsDate", ["era"], [.text("freemium")]),
            (.honorEnded(era: 0, at: at), "honorEnded", ["era", "at"], [.text("paid"), .date(at)]),
            (.endUnknown(era: 1), "endUnknown", ["era"], [.text("freemium")]),
            (.appRefunded(at: at), "appRefunded", ["at"], [.date(at)]),
            (.boughtAgain(signed: at), "boughtAgain", ["signed"], [.date(at)]),
            (.boughtAgainInDoubt(signed: at), "boughtAgainInDoubt", ["signed"], [.date(at)]),
            (.licenseEnded(at: at), "licenseEnded", ["at"], [.date(at)]),
            (.product(0, until: nil), "product", ["product"], [.text("a")]),
            (.product(1, until: at), "product", ["product", "until"], [.text("b"), .date(at)]),
            (.familyShared(1), "familyShared", ["product"], [.text("b")]),
            (.gracePeriod(1, until: at), "gracePeriod", ["product", "until"], [.text("b"), .date(at)]),
            (.billingRetry(1), "billingRetry", ["product"], [.text("b")]),
            (.expired(1, at: at), "expired", ["product", "at"], [.text("b"), .date(at)]),
            (.refunded(1, at: at), "refunded", ["product", "at"], [.text("b"), .date(at)]),
            (.upgraded(1), "upgraded", ["product"], [.text("b")]),
            (.consumable(1), "consumable", ["product"], [.text("b")]),
            (.noLength(1), "noLength", ["product"], [.text("b")]),
            (.unknownProductType(1), "unknownProductType", ["product"], [.text("b")]),
            (.noPurchase, "noPurchase", [], []),
            (.purchasesIncomplete, "purchasesIncomplete", [], []),
            (.supportGrant(until: nil), "supportGrant", [], []),
            (.supportGrant(until: at), "supportGrant", ["until"], [.date(at)]),
            (.supportGrantEnded(at: at), "supportGrantEnded", ["at"], [.date(at)]),
            (.supportRevocation, "supportRevocation", [], []),
            (.promise(until: nil), "promise", [], []),
            (.promise(until: at), "promise", ["until"], [.date(at)]),
            (.promiseEnded, "promiseEnded", [], []),
            (
                .version(phone, eras: paid), "version", ["version", "platform", "eras"],
                [.text("37"), .text("iOS"), .names(["paid"])]
            ),
            (
                .version(mac, eras: free), "version", ["version", "platform", "eras"],
                [.text("2.0"), .text("macOS"), .names(["freemium"])]
            ),
            (.versionMissing, "versionMissing", [], []),
            (.versionMalformed(mac), "versionMalformed", ["version"], [.text("2.0")]),
            (.versionNotListed(mac), "versionNotListed", ["version"], [.text("2.0")]),
            (.versionNotComparable(mac), "versionNotComparable", ["version"], [.text("2.0")]),
            (.platformNotInPolicy(.macOS), "platformNotInPolicy", ["platform"], [.text("macOS")]),
            (.date(at, eras: both), "date", ["date", "eras"], [.date(at), .names(["paid", "freemium"])]),
            (.dateMissing, "dateMissing", [], []),
            (.changeover(at, eras: both), "changeover", ["date", "eras"], [.date(at), .names(["paid", "freemium"])]),
            (.dateBeforeVersion, "dateBeforeVersion", [], []),
            (.versionAuthoritative, "versionAuthoritative", [], []),
            (.contradiction, "contradiction", [], []),
            (.preorder(at), "preorder", ["date"], [.date(at)]),
            (.testEnvironment, "testEnvironment", ["environment"], [.text("Sandbox")]),
            (.persona, "persona", ["persona"], [.text("owner")]),
            (.personaRefused, "personaRefused", ["persona"], [.text("owner")]),
        ]
        for (finding, code, names, facts) in rows {
            let reason = Reason(finding: finding, context: context)
            #expect(reason.code == code)
            #expect(reason.facts.map { $0.name } == names, "\(code)")
            #expect(reason.facts.map { $0.fact } == facts, "\(code)")
        }
        #expect(Set(rows.map { $0.1 }) == Set(Reason.Code.allCases.map(\.rawValue)))
    }

    @Test func `a reason's text for logs has the names of its facts, and none without facts`() throws {
        let context = try context()
        #expect(
            Reason(finding: .inDoubt(honored: EraSet(from: 0, to: 1), others: EraSet()), context: context).description
                == #"inDoubt(honored: names(["paid"]), others: names([]))"#)
        #expect(Reason(finding: .noHonors, context: context).description == "noHonors")
    }

    @Test func `equal reasons of two customers are equal, but not the same`() throws {
        let (first, second) = (try context(), try context())
        let reason = Reason(finding: .product(1, until: nil), context: first)
        let other = Reason(finding: .product(1, until: nil), context: second)
        #expect(reason == other && !reason.isSame(as: other))
        #expect(reason.isSame(as: Reason(finding: .product(1, until: nil), context: first)))
        #expect(!reason.isSame(as: Reason(finding: .product(0, until: nil), context: first)))
        #expect(reason != Reason(finding: .product(1, until: date("2015-06-11")), context: second))
    }

    @Test func `only a right from a subscription or a purchase of limited length ends by itself`() throws {
        let policy = try Calculator.policy()
        func purchase(_ product: String, _ type: Purchase.ProductType, until end: String?) -> Purchase {
            Purchase(
                transactionID: "1", productID: product, type: type, purchaseDate: date("2015-06-20"),
                expiresDate: end.map(date), signedDate: date("2015-06-30"))
        }
        let support = SupportGrant(.grant, of: "everything", date: date("2015-06-25"), until: date("2015-08-01"))
        for (evidence, until, endsByItself) in [
            (
                Calculator.evidence(
                    [], transactions: [purchase(Calculator.yearly, .autoRenewable, until: "2016-06-20")]),
                "2016-06-20", true
            ),
            (
                Calculator.evidence([], transactions: [purchase(Calculator.all, .nonConsumable, until: nil)]), nil,
                false
            ),
            (Calculator.evidence([Calculator.app("37", "2014-05-01")]), nil, false),
            (Calculator.evidence([], support: [support]), "2015-08-01", false),
        ] as [(Evidence, String?, Bool)] {
            let decision = try Calculator.decide(evidence, under: policy)
            #expect(decision.outcome == .granted)
            #expect(decision.until == until.map(date))
            #expect(decision.endsByItself == endsByItself)
        }
    }
}
