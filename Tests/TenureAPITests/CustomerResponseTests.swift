import Foundation
import TenureCore
import TenureJSON
import Testing

@testable import TenureAPI

@Suite struct `a customer's JSON response` {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000.25)

    private static func answer() throws -> CustomerAnswer {
        let policy = try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: nil)]),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "every \"thing\"", products: [.init(id: "x")], honors: [Honor(era: "paid")]),
                Entitlement(name: "cloud", products: [.init(id: "yearly")]),
            ])
        let purchase = Purchase(
            transactionID: "2", originalTransactionID: "1", productID: "yearly", type: .autoRenewable,
            purchaseDate: now, expiresDate: now.addingTimeInterval(60), isFamilyShared: true, signedDate: now)
        let evidence = Evidence(
            environment: .production,
            app: [
                AppProof(
                    kind: .appTransaction, signedDate: now, originalPlatform: .iOS, originalAppVersion: "37",
                    originalPurchaseDate: now)
            ],
            transactions: [purchase], purchasesAreComplete: true)
        return CustomerAnswer(
            id: "cus_1", bound: true, environment: .production, isTest: false,
            decisions: decide(evidence, under: policy, at: now), purchases: evidence.purchases,
            purchasesAreComplete: true)
    }

    @Test func `a customer's JSON response decodes to the values that were encoded`() throws {
        var answer = try Self.answer()
        answer.entitlementToken = "a.b.c"
        answer.signingKey = SigningKeyResponse(chain: ["d.e.f", "g.h.i"], root: "j.k.l", revocations: "m.n.o")
        answer.accessToken = AccessTokenResponse(value: "t", expiresAt: Self.now)
        answer.problems = [ArtifactProblem(artifact: "transactions[3]", code: "unrelated", detail: "x")]
        var json = JSONWriter()
        json.value(answer)
        let read = try JSONDecoder().decode(CustomerResponse.self, from: Data(json.bytes))
        #expect(read.id == "cus_1")
        #expect(read.environment == .production)
        #expect(!read.isTest)
        #expect(read.entitlementToken == "a.b.c")
        #expect(read.signingKey == answer.signingKey)
        #expect(read.bound)
        #expect(read.accessToken == answer.accessToken)
        #expect(read.problems == answer.problems)
        #expect(read.purchasesAreComplete)
        for decision in answer.decisions {
            let entitlement = try #require(read.entitlements[decision.entitlement])
            #expect(entitlement.outcome == decision.outcome)
            #expect(entitlement.until == decision.until)
            #expect(entitlement.sentence == decision.sentence)
            #expect(entitlement.nextSteps == decision.nextSteps)
            #expect(entitlement.reasons.map(\.code) == decision.reasons.map(\.code))
            for (reason, original) in zip(entitlement.reasons, decision.reasons) {
                #expect(Set(reason.facts.keys) == Set(original.facts.map(\.name)))
            }
        }
        let purchase = try #require(read.purchases.first)
        #expect(purchase.transactionID == "2")
        #expect(purchase.originalTransactionID == "1")
        #expect(purchase.type == "Auto-Renewable Subscription")
        #expect(purchase.expiresDate == Self.now.addingTimeInterval(60))
        #expect(purchase.revocationDate == nil)
        #expect(purchase.isFamilyShared)
        #expect(!purchase.isUpgraded)
    }

    @Test func `a customer's JSON response leaves out absent fields, such as the access token`() throws {
        var json = JSONWriter()
        json.value(try Self.answer())
        let text = String(decoding: json.bytes, as: UTF8.self)
        for name in ["entitlementToken", "signingKey", "accessToken", "problems", "isTest"] {
            #expect(!text.contains("\"\(name)\""))
        }
    }

    @Test(arguments: [#""tomorrow""#, "1795176000", #""2026-13-20T12:00:00Z""#, "{}"])
    func `a customer's JSON response with an invalid date isn't read as one without a date`(date: String) {
        let json = #"{"outcome":"granted","reasons":[],"sentence":"x","until":\#(date)}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(EntitlementResponse.self, from: Data(json.utf8))
        }
    }

    @Test func `the JSON of a single decision contains the name of its entitlement`() throws {
        let decision = try #require(try Self.answer().decisions.last)
        var json = JSONWriter()
        json.value(decision)
        let read = try #require(JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any])
        #expect(read["entitlement"] as? String == "cloud")
        #expect(read["outcome"] as? String == "granted")
    }

    // A later service may have further outcomes.
    @Test(arguments: ["lent", "Granted", ""])
    func `an unknown outcome in a customer's JSON response doesn't count as granted`(outcome: String) throws {
        let json = #"{"outcome":"\#(outcome)","reasons":[],"sentence":"x","nextSteps":["new step"]}"#
        let read = try JSONDecoder().decode(EntitlementResponse.self, from: Data(json.utf8))
        #expect(read.outcome == .undetermined)
        #expect(read.nextSteps.isEmpty)
    }
}
